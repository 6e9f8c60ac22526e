"""The books of a pass over the rows of Cursor's editor: many conversations at once, and what is carried along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.cursor.state import brief
from flywheel.readers.fields import TEXT_CAP, cap_text, mapping_of, text_of, unbriefed
from flywheel.readers.learned import Facts
from flywheel.readers.seam import Carry, Draft, Parsed, Restored, Retracted

_WORDS: Final = 512  # words of which it is known which messages have them
_SAME: Final = 64  # messages with the same words that are told apart
_RECENT: Final = 256  # messages that are known by what they were stored under
_PARENTS: Final = 256

Key = tuple[str, ...]


class Shelf:
    """What one pass over some rows found, and what is carried from one to the next."""

    def __init__(self, carry: Carry) -> None:
        self.at = Micros(int(carry.get("at", 0)))  # micros of the last time that something told
        self.fallback = Micros(int(carry.get("fallback", self.at)))  # when the file was last written before it was read
        self.block = int(carry.get("block", TEXT_CAP))
        self.folder = text_of(carry.get("folder"))  # of the workspace whose database it is
        self.current = text_of(carry.get("current"))  # the conversation of the last message
        self.parents: dict[str, str] = dict(mapping_of(carry.get("parents")))
        # the lists in both belong to the carry: nobody changes one, it gives way to another
        self.words: dict[str, list[str]] = dict(mapping_of(carry.get("same")))
        self.recent: dict[str, list[Any]] = dict(mapping_of(carry.get("recent")))
        self.drafts: list[Draft] = []
        self.sessions: dict[str, Facts] = {}
        self.retracted: list[Retracted | Restored] = []
        self.unknown: dict[str, int] = {}

    def count(self, kind: str) -> None:
        """Count something that no rule knows."""
        self.unknown[kind] = self.unknown.get(kind, 0) + 1

    def facts(self, session: str) -> Facts:
        """What is known of a conversation so far."""
        found = self.sessions.get(session)
        if found is None:
            found = self.sessions[session] = Facts()
        return found

    def descends(self, child: str, parent: str) -> None:
        """A conversation was begun by another one."""
        self.parents[child] = parent
        _trim(self.parents, _PARENTS)

    def key(self, session: str, letter: str, words: str, bubble: str) -> Key:
        """What a message is known by."""
        name = letter + brief(words)
        place = session[:8] + name
        same = self.words.pop(place, None)
        if same is None:
            self.words[place] = [bubble]
            if len(self.words) > _WORDS:
                _trim(self.words, _WORDS)
            return (session, name)
        if bubble not in same:
            same = [*same, bubble][:_SAME]
        self.words[place] = same
        times = same.index(bubble) if bubble in same else _SAME
        return (session, f"{name}.{times}" if times else name)

    def add(
        self,
        key: Key,
        slot: int,
        role: Role,
        kind: MessageKind,
        text: str,
        *,
        tool: str = "",
        call_id: str = "",
        failed: bool = False,
        meta: Mapping[str, object] | None = None,
        empty: bool = False,
    ) -> None:
        """Add a draft, unless it is empty and may not be. Its session is the key's first part."""
        text = unbriefed(text)
        if not empty and (not text or text.isspace()):
            return
        text, chars = cap_text(text, self.block)
        if chars:
            meta = {**(meta or {}), "chars": chars}
        self.drafts.append(Draft(key, key[0], slot, role, kind, text, self.at, tool, call_id, failed, meta or {}))

    def settle(self, session: str, bubble: str, keys: Sequence[Key], *, live: bool) -> None:
        """Compare a message with what was stored of it: other words replace it, a list that lacks it takes it back."""
        if not keys:
            return
        place = f"{session}:{bubble}"
        known = self.recent.pop(place, None)
        if known:
            former = [(session, *map(str, key)) for key in known[1:]]
            lost = [key for key in former if key not in keys]
            if lost:
                self.retracted.append(Retracted(reason="replaced", session=session, keys=lost, at=self.at))
        if not live or (known and known[0]):
            self._change(session, keys, gone=not live)
        self.recent[place] = [not live, *[[*key[1:]] for key in keys]]
        if len(self.recent) > _RECENT:
            _trim(self.recent, _RECENT)

    def compare(self, session: str, bubbles: set[str]) -> None:
        """The messages that a conversation lists: of the others that are known, what was said is taken back."""
        for place, known in self.recent.items():
            of, _, bubble = place.rpartition(":")
            if of == session and known[0] is (bubble in bubbles):
                self.recent[place] = [not known[0], *known[1:]]
                self._change(session, [(session, *map(str, key)) for key in known[1:]], gone=not known[0])

    def _change(self, session: str, keys: Sequence[Key], *, gone: bool) -> None:
        if gone:
            self.retracted.append(Retracted(reason="rewound", session=session, keys=tuple(keys), at=self.at))
        else:
            self.retracted.append(Restored(session=session, keys=tuple(keys)))

    def close(self) -> Parsed:
        """Everything that was found."""
        return Parsed(
            carry=self.dump(),
            drafts=tuple(self.drafts),
            sessions={name: facts.told(name) for name, facts in self.sessions.items()},
            retracted=tuple(self.retracted),
            unknown=self.unknown,
        )

    def dump(self) -> Carry:
        """The carry."""
        named: dict[str, object] = {
            "at": self.at,
            "fallback": self.fallback,
            "block": self.block,
            "folder": self.folder,
            "current": self.current,
            "parents": self.parents,
            "same": self.words,
            "recent": self.recent,
        }
        return {name: value for name, value in named.items() if value}


def _trim(table: dict[str, Any], size: int) -> None:
    """Forget the oldest quarter of a table that is full."""
    if len(table) > size:
        for name in [*islice(table, size // 4)]:
            del table[name]
