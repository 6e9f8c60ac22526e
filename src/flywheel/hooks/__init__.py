"""Hooks: the client that agents run, the answers they get, and the installer. One file per agent."""
