"""What is remembered of one conversation of Cursor's CLI between two reads, bounded whatever its length."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.cursor.places import hints_of
from flywheel.readers.fields import TEXT_CAP, clip, mapping_of, text_of
from flywheel.readers.seam import Carry, Place, Record

_NEVER: Final = Micros(0)
_BLAKE: Final = blake2b(digest_size=8)


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry."""

    session: str = ""
    parent: str = ""
    child: bool = False
    at: Micros = _NEVER
    count: int = 0  # slots so far
    ended: bool = False  # whether the next slot holds how the turn ended
    block: int = TEXT_CAP
    cwd: str = ""
    model: str = ""
    title: str = ""
    guessed: str = ""  # a title from the first prompt
    hints: dict[str, str] = field(default_factory=dict)  # what the path tells of the folder
    seen: dict[str, int] = field(default_factory=dict)  # what was said and how often, the latest last
    calls: dict[str, list[Any]] = field(default_factory=dict)  # call id -> [tool, our own, slot of its result]
    noted: dict[str, list[Any]] = field(default_factory=dict)  # id in the store -> its keys


def fresh(place: Place, at: Micros, block: int, sidecar: Record | None = None) -> State:
    """The state before the first record of a file."""
    about = mapping_of(sidecar)
    return State(
        session=place.session,
        parent=place.parent,
        child=place.child,
        at=at,
        block=block,
        hints=hints_of(place),
        cwd=text_of(about.get("cwd"))[:4096],
        title=clip(" ".join(text_of(about.get("title")).split()), 120),
    )


def dump(state: State) -> Carry:
    """The carry: what is empty is left out."""
    words = {"title": state.title, "guessed": state.guessed}
    named: dict[str, object] = {
        "session": state.session,
        "parent": state.parent,
        "child": state.child,
        "at": state.at,
        "count": state.count,
        "ended": state.ended,
        "block": state.block,
        "cwd": state.cwd,
        "model": state.model,
        "hints": state.hints,
        "seen": state.seen,
        "calls": state.calls,
        "noted": state.noted,
        "words": {name: text for name, text in words.items() if text},
    }
    return {name: value for name, value in named.items() if value}


def load(carry: Carry) -> State:
    """The state that a carry holds; the carry itself is not touched."""
    words = mapping_of(carry.get("words"))
    return State(
        session=text_of(carry.get("session")),
        parent=text_of(carry.get("parent")),
        child=bool(carry.get("child")),
        at=Micros(int(carry.get("at", 0))),
        count=int(carry.get("count", 0)),
        ended=bool(carry.get("ended")),
        block=int(carry.get("block", TEXT_CAP)),
        cwd=text_of(carry.get("cwd")),
        model=text_of(carry.get("model")),
        title=text_of(words.get("title")),
        guessed=text_of(words.get("guessed")),
        hints=dict(mapping_of(carry.get("hints"))),
        seen=dict(mapping_of(carry.get("seen"))),
        calls=dict(mapping_of(carry.get("calls"))),  # nobody changes the lists in it
        noted=dict(mapping_of(carry.get("noted"))),
    )


def brief(words: str) -> str:
    """A digest of somebody's words: BLAKE2b, 8 bytes."""
    made = _BLAKE.copy()  # faster than making one with its parameters
    made.update(words.encode("utf-8", "surrogatepass"))
    return made.hexdigest()
