"""Corrections found in short labelled exchanges: the product's rules against a prompt that begins with "no"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.corpora.corrections import Exchange, exchanges, is_held_out
from flywheel.harvest.rules.corrections import FLOOR, Acts, correction_in
from flywheel.model import Message, MessageId, MessageKind, Micros, ProjectId, Role, SessionId, digest
from flywheel.text.redact import Redactor

FLOORS: Final = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
_NO: Final = re.compile(r"\s*(?:no\b|nope\b|not\b|wrong\b|don't\b)", re.IGNORECASE)


def run(data: Path | None, n: int | None) -> Mapping[str, Any]:
    """Precision and recall on both halves at several floors; ``data`` and ``n`` are not asked for."""
    found = exchanges()
    halves = {
        "tuning": [one for one in found if not is_held_out(one)],
        "held out": [one for one in found if is_held_out(one)],
    }
    return {
        "results": {
            name: {f"{floor:.2f}": measure(half, partial(hits, floor=floor)) for floor in FLOORS}
            for name, half in halves.items()
        }
        | {"floor in use": FLOOR},
        "floor": {name: measure(half, lambda one: _NO.match(one.prompt) is not None) for name, half in halves.items()},
        "n": {name: len(half) for name, half in halves.items()},
    }


def hits(one: Exchange, floor: float) -> bool:
    """Whether the rules hold the exchange's last words to be a correction."""
    acts = Acts()
    for number, (kind, text) in enumerate(((MessageKind.TOOL_CALL, one.ran), (MessageKind.REPLY, one.said))):
        if text:
            acts.hear(_message(number, kind, text))
    return correction_in(_message(9, MessageKind.PROMPT, one.prompt), acts, floor) is not None


def measure(half: Sequence[Exchange], says: Callable[[Exchange], bool]) -> Mapping[str, float]:
    """Precision and recall."""
    said = [one for one in half if says(one)]
    right = sum(one.corrects for one in said)
    wanted = sum(one.corrects for one in half)
    return {
        "precision": round(right / len(said), 3) if said else 1.0,
        "recall": round(right / wanted, 3) if wanted else 1.0,
        "said": len(said),
    }


def _message(number: int, kind: MessageKind, text: str) -> Message:
    clean = Redactor().text(text)
    return Message(
        id=MessageId(f"m{number}"),
        project_id=ProjectId("p"),
        session_id=SessionId("s"),
        ordinal=number,
        role=Role.USER if kind is MessageKind.PROMPT else Role.ASSISTANT,
        kind=kind,
        text=clean,
        created_at=Micros(number),
        sha256=digest(clean),
    )
