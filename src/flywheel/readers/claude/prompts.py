"""Tells what a person typed from what Claude Code put into the user's turn (FORMATS §1.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SUMMARY_OPENING: Final = "This session is being continued from a previous conversation"

_TAGS: Final = (
    "command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr|"
    "local-command-caveat|system-reminder|task-notification|ide_opened_file|ide_selection|ide_diagnostics|"
    "bash-input|bash-stdout|bash-stderr|user-prompt-submit-hook|session-start-hook|teammate-message"
)
_WHOLE: Final = re.compile(rf"<({_TAGS})\b[^>]*>.*?</\1>", re.DOTALL)
_OPEN: Final = re.compile(rf"<({_TAGS})\b[^>]*>.*\Z", re.DOTALL)
_TICKS: Final = re.compile(r"\A\s*<(tick|goal)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL)
_NAME: Final = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGS: Final = re.compile(r"<command-args>(.*?)(?:</command-args>|\Z)", re.DOTALL)
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user[^\]]*\]")
_HARNESS: Final = ("Caveat: The messages below", "Stop hook feedback:")
_REFUSED: Final = "The user doesn't want to"
_SAID: Final = "the user said:\n"

TYPED: Final = frozenset({"typed", "queued", "sdk"})
"""Values of ``promptSource`` that vouch for a person (or the program that speaks for one)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What is left of a user's turn: the person's words, and the slash command before them."""

    text: str = ""
    slash: str = ""
    interrupted: bool = False


def spoken(text: str, source: str = "") -> Spoken:
    """The person's own words in a user's turn; ``source`` is the record's ``promptSource``."""
    if text.startswith(_HARNESS):
        return Spoken()
    slash, args = "", ""
    if "<" in text:
        if "<command-name>" in text:
            name, argument = _NAME.search(text), _ARGS.search(text)
            slash, args = (name[1][:80] if name else ""), (argument[1].strip() if argument else "")
        text = _WHOLE.sub("", text)
        if source not in TYPED:
            text = _TICKS.sub("", _OPEN.sub("", text))
    interrupted = "[Request interrupted by user" in text
    if interrupted:
        text = _INTERRUPTED.sub("", text)
    words = "\n".join(part for part in (args, text.strip()) if part)
    return Spoken(text=words, slash=slash, interrupted=interrupted)


def refusal(text: str) -> str:
    """What a person said when refusing a tool's use; "" when this result is none or nothing was said."""
    if not text.startswith(_REFUSED):
        return ""
    _, found, said = text.partition(_SAID)
    return said.strip() if found else ""
