"""The one screen that a person audits: what needs a decision now, ranked; derived from the store, never edited."""
