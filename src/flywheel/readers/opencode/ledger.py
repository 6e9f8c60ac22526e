"""The books of one pass over opencode's rows: drafts, retractions, session facts, and what is carried along."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.fields import TEXT_CAP, cap_text, kind_name, list_of, micros_of, native, text_of
from flywheel.readers.seam import Carry, Draft, Parsed, Restored, Retracted, SessionFacts

Key = tuple[str, ...]

_RECENT: Final = 320  # slots whose content may still change
COPY: Final = "copy"
"""In the place of a row's table: a fork's copy of another session's message, which it says nothing new about."""

LIVE: Final = 100
"""Messages of a session whose ids its row tells."""

_OLDEST: Final = 100_000_000_000  # milliseconds: below are seconds
_LATEST: Final = 250_000_000_000_000
_RUN: Final = 512
_ENDS: Final = 400
_UNDATED: Final = Micros(0)
_CALL: Final = MessageKind.TOOL_CALL  # kept without text too
_RESULT: Final = MessageKind.TOOL_RESULT
_REPLY: Final = MessageKind.REPLY  # its suffix stands for its text, as a thought's does
_THOUGHT: Final = MessageKind.THINKING
_PLACEHOLDER: Final = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\d")


@dataclass(slots=True)
class Turn:
    """The message that a row belongs to."""

    session: str
    message: str
    at: Micros
    place: int  # ordinal of the row's first draft
    table: str  # which generation of tables the row is from
    child: bool = False  # of a session that another one started
    reverted: bool = False  # the person went back to before it
    again: bool = False  # given once more because its session was edited, an undone revert perhaps


def say(
    suffix: str,
    role: Role,
    kind: MessageKind,
    text: str,
    *,
    tool: str = "",
    call_id: str = "",
    is_error: bool = False,
    meta: Mapping[str, object] | None = None,
    step: int = 0,
) -> Draft:
    """A draft that does not know its message yet (`Ledger.put` tells it).

    ``suffix`` tells it apart from the others of its message, ``step`` places it after the first one of its slot.
    """
    return Draft(
        key=(suffix,),
        session="",
        ordinal=step,
        role=role,
        kind=kind,
        text=text,
        tool=tool,
        call_id=call_id,
        is_error=is_error,
        meta={} if meta is None else meta,
        created_at=_UNDATED,
    )


class Ledger:
    """Takes what the handlers of the tables find.

    A slot is a place of a message that holds one thing (a text, a tool's call with its result). What it held is
    remembered for a while, so that a row that comes again adds nothing and one that changed replaces its drafts.
    """

    def __init__(self, carry: Carry) -> None:
        self._block = int(carry.get("block", TEXT_CAP))
        self._at = int(carry.get("at", 0))
        self._recent: dict[str, list[Any]] = dict(carry.get("recent") or {})  # entries are replaced, not changed
        self._facts: dict[str, SessionFacts] = {}
        self._spans: dict[str, list[Micros]] = {}  # session -> times of its first and last rows
        self.told: tuple[str, str, object] = ("", "", None)  # session, model and facts that the last row told
        self.child = False  # whether another session started that one
        self._drafts: list[Draft] = []
        self.retracted: list[Retracted | Restored] = []
        self._unknown: dict[str, int] = {}

    def date(self, created: object) -> Micros:
        """When a row was made (milliseconds since 1970); one without a time has that of the row before it."""
        if type(created) is int and _OLDEST < created < _LATEST:
            self._at = created * 1000
        elif (at := micros_of(created)) is not None:
            self._at = at
        return Micros(self._at)

    def learn(self, facts: SessionFacts) -> None:
        """Take in what a row tells of its session."""
        known = self._facts.get(facts.native_id)
        self._facts[facts.native_id] = known.merge(facts) if known else facts

    def passed(self, session: str, at: Micros) -> None:
        """A row of a session went by at that time."""
        span = self._spans.get(session)
        if span is None:
            self._spans[session] = [at, at]
        elif at > span[1]:
            span[1] = at
        elif at < span[0]:
            span[0] = at

    def knows(self, session: str) -> bool:
        """Whether this pass has facts of the session."""
        return session in self._facts

    def put(self, turn: Turn, slot: str, said: Sequence[Draft]) -> None:
        """What a slot holds now: new drafts, replaced ones, or nothing new; and whether it holds at all."""
        said = [
            one for one in said if (one.text and not one.text.isspace()) or one.kind is _CALL or one.kind is _RESULT
        ]
        if not said:
            return
        recent, name, seal = self._recent, f"{turn.message}/{slot}", _seal(said)
        known = recent.get(name)
        if known is None:
            known = recent[name] = [turn.session, turn.table, seal, 0, [one.key[0] for one in said]]
            for one in said:
                self._enter(turn, one, one.key[0])
            if len(recent) > _RECENT:
                del recent[next(iter(recent))]
        elif turn.table == COPY:
            return
        elif known[2] != seal:
            suffixes = self._rewrite(turn, said, seal, recent.pop(name)[4])
            known = recent[name] = [turn.session, turn.table, seal, known[3], suffixes]
        if turn.table != COPY and (turn.reverted != known[3] or turn.again):
            recent[name] = [*known[:3], int(turn.reverted), known[4]]
            self._hold(turn, known)

    def _rewrite(self, turn: Turn, said: Sequence[Draft], seal: str, before: Sequence[str]) -> list[str]:
        """Drafts for what a slot holds now, and their suffixes; those of what it held before are taken back."""
        now: list[str] = []
        for one in said:
            suffix = one.key[0]
            now.append(f"{suffix}.{seal}" if suffix in before else suffix)
            self._enter(turn, one, now[-1])
        gone = [_key(turn.message, suffix) for suffix in before if suffix not in now]
        if gone:
            self.retracted.append(Retracted(reason="replaced", session=turn.session, keys=gone, at=turn.at))
        self.retracted.append(Restored(session=turn.session, keys=[_key(turn.message, one) for one in now]))
        return now

    def _enter(self, turn: Turn, one: Draft, suffix: str) -> None:
        if len(one.text) > _RUN and _needs_cut(one.text, self._block):
            one.text, chars = cap_text(one.text, self._block)
            if chars:
                one.meta = {**one.meta, "chars": chars}
        one.key = (turn.message, suffix) if suffix else (turn.message,)
        one.session, one.ordinal, one.created_at = turn.session, turn.place + one.ordinal, turn.at
        self._drafts.append(one)

    def _hold(self, turn: Turn, entry: list[Any]) -> None:
        """Take back what was reverted, and put back what was after all not."""
        keys = [_key(turn.message, suffix) for suffix in entry[4]]
        if turn.reverted and entry[3] == 0:
            self.retracted.append(Retracted(reason="reverted", session=turn.session, keys=keys, at=turn.at))
        elif not turn.reverted and (entry[3] == 1 or turn.again):
            self.retracted.append(Restored(session=turn.session, keys=keys))

    def live(self, session: str, table: str, messages: Sequence[object], at: Micros) -> None:
        """Take back what was given of messages that are deleted; ``messages`` are the session's last ones."""
        there = {one for one in messages if isinstance(one, str)}
        if not there:
            return
        oldest = min(there) if len(there) >= LIVE else ""
        for name, entry in list(self._recent.items()):
            message = name.split("/", 1)[0]
            if entry[0] == session and entry[1] == table and message not in there and message >= oldest:
                del self._recent[name]
                if entry[3] == 0:
                    keys = [_key(message, suffix) for suffix in entry[4]]
                    self.retracted.append(Retracted(reason="reverted", session=session, keys=keys, at=at))

    def given(self) -> list[Key]:
        """The keys of this pass's drafts."""
        return [draft.key for draft in self._drafts]

    def restore(self, session: str, keys: Sequence[Key]) -> None:
        """Drafts that hold, whatever was told of them before."""
        if keys:
            self.retracted.append(Restored(session=session, keys=keys))

    def count(self, kind: str) -> None:
        """Count something that no rule knows."""
        self._unknown[kind] = self._unknown.get(kind, 0) + 1

    def close(self) -> Parsed:
        """Everything entered since the books were opened."""
        for session, (first, last) in self._spans.items():
            self.learn(SessionFacts(native_id=session, started_at=first, last_at=last))
        carry = {"at": self._at, "block": self._block, "recent": self._recent}
        return Parsed(
            carry={name: value for name, value in carry.items() if value},
            drafts=tuple(self._drafts),
            sessions=self._facts,
            retracted=tuple(self.retracted),
            unknown=self._unknown,
        )


def fresh(at: Micros, block: int) -> Carry:
    """The carry before the first row."""
    return {"at": at, "block": block}


def title_of(value: object) -> str:
    """A session's title; "" for what the client calls it before it has one."""
    title = " ".join(text_of(value).split())[:200]
    return "" if _PLACEHOLDER.match(title) else title


def kind_of(table: str, value: object) -> str:
    """The name under which something unknown is counted."""
    return f"{table}.{kind_name(value)}"


def mark_of(text: str) -> str:
    """Stands for a text among those of the same message: its length, its beginning and its end."""
    length = len(text)
    if length > 2 * _ENDS:
        text = text[:_ENDS] + text[-_ENDS:]
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}{length:x}"


def ids_of(values: object) -> list[str]:
    """The identifiers in a list."""
    return [name for value in list_of(values) if (name := native(value))]


def _needs_cut(text: str, most: int) -> bool:
    """Whether a text is too long, or has a stretch without a space, which may be base64."""
    if len(text) > most:
        return True
    at, last = 0, len(text) - _RUN
    while at < last:
        at = text.rfind(" ", at, at + _RUN) + 1
        if at == 0:
            return True
    return False


def _key(message: str, suffix: str) -> Key:
    return (message, suffix) if suffix else (message,)


def _seal(said: Sequence[Draft]) -> str:
    """Stands for what a slot holds."""
    if len(said) == 1:
        one = said[0]
        return one.key[0] if one.kind is _REPLY or one.kind is _THOUGHT else mark_of(one.text)
    return f"{len(said[0].text):x}.{mark_of(said[-1].text)}"  # a call and its result
