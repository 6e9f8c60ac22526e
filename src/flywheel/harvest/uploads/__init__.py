"""Transcripts that come over the socket: checked and redacted as they stream, kept in parts, read by a job."""
