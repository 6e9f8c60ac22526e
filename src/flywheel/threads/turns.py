"""A session's messages as turns: prompt, the head of the reply, and the files that were edited for it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from flywheel.model import Message, MessageKind, Session
from flywheel.text.compose import join, span
from flywheel.threads.topics import PROMPT, REPLY, Turn

FILES: Final = 20
"""Files of one turn that count."""

_EDITS: Final = re.compile(r"edit|write|patch|replace|create", re.IGNORECASE)


def turns_of(messages: Iterable[Message], session: Session) -> Sequence[Turn]:
    """Turns in order. What comes before the first prompt belongs to none."""
    turns: list[Turn] = []
    for message in messages:
        match message.kind:
            case MessageKind.PROMPT:
                turns.append(_begin(message))
            case MessageKind.REPLY if turns:
                turns[-1] = _replied(turns[-1], message)
            case MessageKind.TOOL_CALL if turns:
                turns[-1] = _worked(turns[-1], message, session)
            case _:
                pass
    return turns


def _begin(message: Message) -> Turn:
    return Turn(
        start=message.ordinal,
        stop=message.ordinal,
        first_at=message.created_at,
        last_at=message.created_at,
        id=message.id,
        prompt=span(message.text, 0, PROMPT),
    )


def _replied(turn: Turn, message: Message) -> Turn:
    more = join([turn.reply, span(message.text, 0, REPLY)], "\n") if turn.reply else message.text
    return replace(_until(turn, message), reply=span(more, 0, REPLY))


def _worked(turn: Turn, message: Message, session: Session) -> Turn:
    turn = _until(turn, message)
    files = message.meta.get("files")
    if not (isinstance(files, (list, tuple)) and (message.meta.get("edits") or _EDITS.search(message.tool))):
        return turn
    root = str(session.cwd).rstrip("/") + "/"
    names = [str(path).removeprefix(root) for path in files]
    return replace(turn, files=tuple(dict.fromkeys((*turn.files, *names)))[:FILES])


def _until(turn: Turn, message: Message) -> Turn:
    return replace(turn, stop=message.ordinal, last_at=max(turn.last_at, message.created_at))
