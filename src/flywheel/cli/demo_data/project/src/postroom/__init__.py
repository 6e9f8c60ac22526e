"""The mail of a small shop."""
