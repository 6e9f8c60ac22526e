"""What is said beside tools: prompts, replies, thoughts, summaries and notices, as drafts to be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flywheel.model import MessageKind, Role
from flywheel.readers.fields import clip, list_of, mapping_of, text_of
from flywheel.readers.opencode.ledger import mark_of, say
from flywheel.readers.opencode.tools import error_text
from flywheel.readers.seam import Draft

_QUOTED: Final = re.compile(r'"(?=[^"]*\s)((?:[^"\\]|\\.)*)"', re.DOTALL)
_INTERRUPTED: Final = "[Request interrupted by user]"
_ABORTED: Final = ("MessageAbortedError", "aborted")
_FILES: Final = 20


def prompt(text: str, *, child: bool, images: int, suffix: str = "") -> Draft:
    """A person's words; what starts a subagent's session is the task that another agent gave it."""
    if child:
        meta: dict[str, object] = {"notice": "task"}
        return say(suffix, Role.ASSISTANT, MessageKind.NOTICE, text, meta=meta)
    meta = {"images": images} if images else {}
    return say(suffix, Role.USER, MessageKind.PROMPT, unquoted(text), meta=meta)


def unquoted(text: str) -> str:
    """Without the quotes that the command line puts around a prompt of several words."""
    found = _QUOTED.fullmatch(text) if text[:1] == '"' else None
    return found[1].replace('\\"', '"') if found else text


def reply(text: str) -> Draft:
    """What the model answered."""
    seal = mark_of(text)
    return say(f"t{seal}", Role.ASSISTANT, MessageKind.REPLY, text)


def thought(text: str) -> Draft:
    """What the model thought."""
    seal = mark_of(text)
    return say(f"r{seal}", Role.ASSISTANT, MessageKind.THINKING, text)


def summary(text: str, suffix: str = "summary") -> Draft:
    """What a compaction put in the place of the conversation before."""
    return say(suffix, Role.ASSISTANT, MessageKind.SUMMARY, text)


def failure(error: object, step: int) -> Draft:
    """Why a message broke off: a person stopped it, or something went wrong."""
    fields = mapping_of(error)
    if fields.get("name") in _ABORTED or fields.get("type") in _ABORTED:
        meta: dict[str, object] = {"notice": "interrupted"}
        kind = MessageKind.NOTICE
        return say("error", Role.USER, kind, _INTERRUPTED, meta=meta, step=step)
    return say(
        "error",
        Role.SYSTEM,
        MessageKind.NOTICE,
        error_text(error),
        is_error=True,
        meta={"notice": "error"},
        step=step,
    )


def retry(part: Mapping[str, Any], step: int = 0) -> Draft:
    """A request that failed and was made again."""
    return say(
        f"retry{part.get('attempt')!s:.8}",
        Role.SYSTEM,
        MessageKind.NOTICE,
        error_text(part.get("error")),
        is_error=True,
        meta={"notice": "retry"},
        step=step,
    )


def patch(files: object, step: int = 0) -> Draft:
    """The files that a step changed, by whatever tool."""
    names = [clip(name, 1000) for name in map(text_of, list_of(files)) if name]
    text = "\n".join(names)
    meta: dict[str, object] = {"notice": "patch", "files": names[:_FILES]}
    kind = MessageKind.NOTICE
    return say(f"p{mark_of(text)}", Role.SYSTEM, kind, text, meta=meta, step=step)


def task(part: Mapping[str, Any]) -> Draft:
    """A command of the person's that a subagent carries out: its expanded text is not the person's."""
    meta: dict[str, object] = {"notice": "task"}
    command = text_of(part.get("command"))
    if command:
        meta["slash"] = clip(command, 80)
    text = text_of(part.get("prompt")) or text_of(part.get("description"))
    kind = MessageKind.NOTICE
    return say(f"s{mark_of(text)}", Role.ASSISTANT, kind, text, meta=meta)
