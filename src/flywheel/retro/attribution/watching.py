"""Looks for injected items in a session's messages: which were used, by what sign, and which were called wrong. Pure.

What each message costs depends on its length and on the words that items share, not on how many items there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.behaviour.observing import within_roots
from flywheel.harvest.rules.commands import command_of, normal
from flywheel.harvest.rules.topic import stems
from flywheel.model import Message, MessageId, MessageKind, Micros
from flywheel.retro.attribution import objecting
from flywheel.retro.attribution.items import Item, distinct, distinguish
from flywheel.retro.attribution.repeating import Index
from flywheel.text.code_names import files as names_of_files
from flywheel.text.prose import QUOTE, sentences

CITED: Final = "cited"
TOUCHED: Final = "touched"
RAN: Final = "ran"
REPEATED: Final = "repeated"
USES: Final = (CITED, TOUCHED, RAN, REPEATED)
"""Signs that an item was used."""

HARMS: Final = (objecting.WRONG, objecting.STALE)
"""Signs that it was called wrong."""

HEAD: Final = 6000
"""Characters of a message that are looked at."""

COMMAND_WORDS: Final = 8
"""Words of a command line within which a known command must end."""

SAID: Final = 20_000
"""Different words of the user that are remembered."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)\w+)*")
_STEP: Final = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")

Key = tuple[str, str]
"""Item and sign."""


@dataclass(frozen=True, slots=True)
class Sign:
    """The first message that gave a sign of an item; ``said`` is the sentence that called it wrong."""

    message: MessageId
    at: Micros
    said: str = ""


class Watch:
    """Takes a session's messages in, in order; `signs` are what was found."""

    def __init__(self, items: Sequence[Item], roots: Sequence[str]) -> None:
        self.items = {item.id: item for item in distinguish(items)}
        self.signs: dict[Key, Sign] = {}
        self.touched: set[str] = set()  # files of items, however it came about
        self.ran: set[str] = set()  # commands of items
        self.said: set[str] = set()  # stems of what the user said
        self._roots = roots
        self._known: set[str] = set()  # names, commands and ids that the session had from elsewhere
        self._by_id: defaultdict[str, list[str]] = defaultdict(list)
        self._by_file: defaultdict[str, list[str]] = defaultdict(list)
        self._by_base: defaultdict[str, set[str]] = defaultdict(set)
        self._by_symbol: defaultdict[str, list[str]] = defaultdict(list)
        self._by_command: defaultdict[str, list[str]] = defaultdict(list)
        self._index = Index(self.items.values())
        self._last: tuple[str, ...] = ()  # items that the last reply rests on
        for item in self.items.values():
            self._enter(item)

    def hear(self, message: Message) -> None:
        """Look at one message."""
        if not self.items:
            return
        match message.kind:
            case MessageKind.PROMPT:
                self._prompted(message)
            case MessageKind.REPLY:
                self._replied(message)
            case MessageKind.TOOL_CALL:
                self._called(message)
            case _:
                pass

    def used(self) -> set[str]:
        """Ids of the items that were used. What was called wrong was not."""
        wrong = self.wrong()
        return {id for id, sign in self.signs if sign in USES and id not in wrong}

    def wrong(self) -> set[str]:
        """Ids of the items that were called wrong or stale."""
        return {id for id, sign in self.signs if sign in HARMS}

    def known(self) -> set[str]:
        """Names and commands that a prompt had named, or that the session had before it was told."""
        return self._known

    def _enter(self, item: Item) -> None:
        if item.short:
            self._by_id[item.short[:6]].append(item.id)
        for path in item.files:
            self._by_file[path].append(item.id)
            self._by_base[path.rpartition("/")[2].lower()].add(path)
        for name in item.symbols:
            self._by_symbol[name].append(item.id)
            last = _last(name)
            if last != name and distinct(last):
                self._by_symbol[last].append(item.id)
        for command in item.commands:
            self._by_command[command].append(item.id)

    # ---- what is heard

    def _prompted(self, message: Message) -> None:
        """What the user names is no news; and the user may say that something is wrong."""
        text = message.text[:HEAD]
        self._object(message, text)
        for start, stop in names_of_files(text):
            self._named(text[start:stop].removeprefix("./"))
        for found in _NAME.finditer(text):
            self._known.update(self._called_alike(found.group()))
        lowered = " ".join(text.split())
        for command in self._by_command:
            if command in lowered:
                self._known.add(command)
        for found in objecting.CITED.finditer(text):
            self._known.add(found[1].lower()[:6])
        if len(self.said) < SAID:
            self.said.update(stems(text))
        self._last = ()

    def _replied(self, message: Message) -> None:
        text = message.text[:HEAD]
        objected = self._object(message, text)
        cited = [id for id in self._cited(text) if id not in objected]
        repeated = [id for id in self._index.repeated(stems(text), self.said) if id not in objected]
        for id in cited:
            self._sign(id, CITED, message)
        for id in repeated:
            if self._sign(id, REPEATED, message):
                self._index.drop(id)
        self._last = tuple(dict.fromkeys((*cited, *repeated)))

    def _called(self, message: Message) -> None:
        command = command_of(message)
        text = message.text[:HEAD]
        for name in self._files(message, command):
            for id in self._by_file.get(name, ()):
                self._touch(id, name, message)
            if name in self._by_file:
                self.touched.add(name)
        if self._by_symbol:
            for found in set(_NAME.findall(text)):
                for id in self._by_symbol.get(found, ()):
                    self._touch(id, found, message)
        if command and self._by_command:
            for known in self._commands(command):
                self.ran.add(known)
                for id in self._by_command[known]:
                    self._touch(id, known, message, RAN)
        for id in self._cited(text):
            self._sign(id, CITED, message)

    # ---- what it is a sign of

    def _cited(self, text: str) -> list[str]:
        if "fw:" not in text.lower():
            return []
        found = {one[1].lower() for one in objecting.CITED.finditer(text)}
        return [id for short in sorted(found) if short[:6] not in self._known for id in self._of(short)]

    def _of(self, short: str) -> Iterator[str]:
        for id in self._by_id.get(short[:6], ()):
            if id.startswith(short) or self.items[id].short.startswith(short):
                yield id

    def _called_alike(self, name: str) -> Iterator[str]:
        """The symbols that somebody means who says this name, in full or by its last part."""
        last = _last(name)
        for known in (name, last):
            if known in self._by_symbol:
                yield known
                yield from (
                    one for id in self._by_symbol[known] for one in self.items[id].symbols if _last(one) == last
                )

    def _named(self, name: str) -> None:
        base = name.rpartition("/")[2].lower()
        for path in self._by_base.get(base, ()):
            if path == name or path.endswith(f"/{name}") or name.endswith(f"/{path}"):
                self._known.add(path)

    def _files(self, message: Message, command: str) -> list[str]:
        listed = message.meta.get("files")
        names = [str(name) for name in listed] if isinstance(listed, list | tuple) else []
        names += [command[start:stop] for start, stop in names_of_files(command)] if command else []
        return within_roots(names, self._roots)

    def _commands(self, line: str) -> Iterator[str]:
        for step in _STEP.split(normal(line)):
            words = step.split()[:COMMAND_WORDS]
            yield from (
                known for many in range(len(words), 0, -1) if (known := " ".join(words[:many])) in self._by_command
            )

    def _touch(self, id: str, name: str, message: Message, sign: str = TOUCHED) -> None:
        """A sign, unless the session had the name from elsewhere: a prompt, or what it did before it was told."""
        if message.created_at < self.items[id].at:
            self._known.add(name)
        elif name not in self._known:
            self._sign(id, sign, message)

    def _sign(self, id: str, sign: str, message: Message, said: str = "") -> bool:
        if message.created_at < self.items[id].at:
            return False
        self.signs.setdefault((id, sign), Sign(message.id, message.created_at, said))
        return True

    def _object(self, message: Message, text: str) -> set[str]:
        """Items that the message calls wrong."""
        if not objecting.may_object(text):
            return set()
        found: set[str] = set()
        plains = [one.plain for one in sentences(text) if one.kind != QUOTE]
        for at, plain in enumerate(plains):
            for id, verdict in self._objected(message, plains, at, plain):
                if self._sign(id, verdict, message, plain.strip()):
                    found.add(id)
        return found

    def _objected(self, message: Message, plains: Sequence[str], at: int, plain: str) -> Iterable[Key]:
        cited = objecting.of_cited(plain, *objecting.beside(plains, at))
        if cited:
            return [(id, verdict) for short, verdict in cited for id in self._of(short)]
        if contrast := objecting.contrasts(plain):
            shares = self._index.repeated(stems(plain), (), least=objecting.CONTRAST)
            best = sorted(shares, key=lambda id: (-shares[id], id))
            if best and (len(best) == 1 or shares[best[0]] > shares[best[1]]):
                return [(best[0], contrast)]
        if message.kind is MessageKind.PROMPT and at == 0 and len(self._last) == 1:
            verdict = objecting.of_last(plain)
            return [(self._last[0], verdict)] if verdict else []
        return []


def _last(name: str) -> str:
    """The last part of a dotted name."""
    return name.replace("::", ".").rpartition(".")[2]
