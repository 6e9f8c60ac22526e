"""Digests: what a session, a thread or a project came to, at two lengths, in words that lie in the store."""

from __future__ import annotations

from typing import Final

SHORT: Final = "short"
LONG: Final = "long"

TOKENS: Final = {SHORT: 60, LONG: 250}
"""Length → tokens of a digest at most, as `text.tokens.count` counts them."""

RULES: Final = "rules"
"""What a digest's ``model`` is when no model wrote it."""
