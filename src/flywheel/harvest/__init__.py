"""Harvest: from transcripts on disk to messages, and from messages to candidate knowledge."""
