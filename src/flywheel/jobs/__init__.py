"""The outbox queue: jobs are written with the data they follow, claimed, retried, and kept when they die."""
