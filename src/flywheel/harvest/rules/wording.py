"""The words of a message as they are shown: one line, without bold marks, cut at a word."""

from __future__ import annotations

import re
from typing import Final

from flywheel.model import Clean
from flywheel.text.compose import join, span, squeeze
from flywheel.text.prose import Sentence

SUMMARY: Final = 280
"""Characters of a summary at most."""


def stated(text: Clean, sentence: Sentence) -> Clean:
    """A sentence as it is shown: verbatim, but on one line and without bold marks."""
    whole = span(text, sentence.start, sentence.stop)
    if "**" in whole:
        parts, at = [], 0
        for mark in re.finditer(r"\*\*", whole):
            parts.append(span(whole, at, mark.start()))
            at = mark.end()
        whole = join((*parts, span(whole, at, len(whole))), "")
    line = squeeze(whole)
    return span(line, 0, len(line) - 1) if line.endswith(":") else line


def shorten(text: Clean, limit: int = SUMMARY) -> Clean:
    """The head of a text, cut at a word."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit // 2, limit)
    return span(text, 0, cut if cut > 0 else limit)
