"""Readers: pure functions from an agent's raw records to drafts. One file per agent; `READERS` is the table."""
