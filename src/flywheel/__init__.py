"""Flywheel: a memory for coding agents that a person can trust."""

__version__ = "0.1.0"
