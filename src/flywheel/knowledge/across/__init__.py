"""Across projects: what a person confirmed in one is proposed in another that has met the same."""
