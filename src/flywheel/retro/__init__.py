"""The retrospective: what a session came to, and whether what was put into it was of use."""
