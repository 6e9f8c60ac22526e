"""Behaviour: what was observed of how somebody works, the beliefs that come of it, their decay and their profile."""
