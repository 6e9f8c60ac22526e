"""The books of a pass over the rows of Cursor's editor: many conversations at once, and what is carried along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.fields import TEXT_CAP, cap_text, mapping_of, text_of
from flywheel.readers.learned import Facts
from flywheel.readers.seam import Carry, Draft, Parsed, Restored, Retracted
from flywheel.text.compose import FENCE_OPEN, strip_injected

FENCE: Final = FENCE_OPEN.strip("<>").split()[0]
_WORDS: Final = 512  # words of which it is known which messages have them
_SAME: Final = 64  # messages with the same words that are told apart
_RECENT: Final = 256  # messages that are known by what they were stored under
_PARENTS: Final = 256

Key = tuple[str, ...]


class Shelf:
    """What one pass over some rows found, and what is carried from one to the next."""

    def __init__(self, carry: Carry) -> None:
        self.at = int(carry.get("at", 0))  # micros of the last time that something told
        self.fallback = int(carry.get("fallback", self.at))  # when the file was last written before it was read
        self.block = int(carry.get("block", TEXT_CAP))
        self.folder = text_of(carry.get("folder"))  # of the workspace whose database it is
        self.current = text_of(carry.get("current"))  # the conversation of the last message
        self.parents: dict[str, str] = dict(mapping_of(carry.get("parents")))
        self.words: dict[str, list[str]] = {key: list(value) for key, value in mapping_of(carry.get("same")).items()}
        self.recent: dict[str, list[Any]] = {key: list(value) for key, value in mapping_of(carry.get("recent")).items()}
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
        name = letter + blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        place = session[:8] + name
        same = self.words.pop(place, None)
        if same is None:
            self.words[place] = [bubble]
            _trim(self.words, _WORDS)
            return (session, name)
        self.words[place] = same
        if bubble not in same:
            same.append(bubble)
            del same[_SAME:]
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
        if FENCE in text:
            text = strip_injected(text)
        if not empty and (not text or text.isspace()):
            return
        text, chars = cap_text(text, self.block)
        meta = meta or {}
        self.drafts.append(
            Draft(
                key,
                key[0],
                slot,
                role,
                kind,
                text,
                Micros(self.at),
                tool,
                call_id,
                failed,
                {**meta, "chars": chars} if chars else meta,
            )
        )

    def settle(self, session: str, bubble: str, keys: Sequence[Key], *, live: bool) -> None:
        """Compare a message with what was stored of it: other words replace it, a list that lacks it takes it back."""
        place = f"{session}:{bubble}"
        if not keys:
            return
        known = self.recent.pop(place, None)
        if known:
            former = [(session, *map(str, key)) for key in known[1:]]
            lost = [key for key in former if key not in keys]
            if lost:
                self.retracted.append(Retracted(reason="replaced", session=session, keys=lost, at=Micros(self.at)))
        if not live or (known and known[0]):
            self._change(session, keys, gone=not live)
        self.recent[place] = [not live, *[[*key[1:]] for key in keys]]
        _trim(self.recent, _RECENT)

    def compare(self, session: str, bubbles: set[str]) -> None:
        """The messages that a conversation lists: of the others that are known, what was said is taken back."""
        for place, known in self.recent.items():
            of, _, bubble = place.rpartition(":")
            if of == session and known[0] is (bubble in bubbles):
                known[0] = not known[0]
                self._change(session, [(session, *map(str, key)) for key in known[1:]], gone=known[0])

    def _change(self, session: str, keys: Sequence[Key], *, gone: bool) -> None:
        if gone:
            self.retracted.append(Retracted(reason="rewound", session=session, keys=tuple(keys), at=Micros(self.at)))
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
