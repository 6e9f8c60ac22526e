"""The code map: what is defined where, and which module needs which."""
