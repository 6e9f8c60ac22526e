"""The task in a prompt, in a sentence or two; pure."""

from __future__ import annotations

from typing import Final

from flywheel.harvest.rules.values import Quote, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.model import Clean, Message
from flywheel.text.compose import join
from flywheel.text.prose import QUOTE, sentences

TASK: Final = 180
"""Characters of a task at most."""


def condense(prompt: Clean) -> Clean:
    """The task in a prompt: its first sentences, without greetings and pasted text, at most `TASK` characters."""
    said: list[Clean] = []
    for one in sentences(prompt[:4000]):
        if one.kind == QUOTE or "[redacted:" in one.plain or (not said and len(one.plain.split()) < 3):
            continue
        said.append(stated(prompt, one))
        if len(said) == 2 or len(said[0]) > 60:
            break
    return shorten(join(said), TASK) if said else shorten(stated_line(prompt), TASK)


def stated_line(prompt: Clean) -> Clean:
    """The first line of a prompt that holds no prose."""
    first = next(iter(sentences(prompt)), None)
    return stated(prompt, first) if first is not None else shorten(prompt, TASK)


def asked(prompt: Message) -> Quote | None:
    """The span of the first sentence that a task is made of; None for a prompt without prose."""
    for one in sentences(prompt.text[:4000]):
        if one.kind != QUOTE and "[redacted:" not in one.plain and len(one.plain.split()) >= 3:
            return quote(prompt, one.start, one.stop)
    return None
