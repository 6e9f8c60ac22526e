"""Backtesting memory: what the briefing of a past session would have told it of what it then had to find out."""
