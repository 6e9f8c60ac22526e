"""The trees of small JSON files that opencode wrote before its database, as rows of that database (FORMATS §4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from flywheel.model import MessageKind, Role
from flywheel.readers.fields import mapping_of, micros_of, native, text_of, true, unbriefed, whole
from flywheel.readers.opencode.ledger import Ledger, say
from flywheel.readers.opencode.parts import TABLE, Message, enter, part
from flywheel.readers.opencode.tables import PLACES
from flywheel.readers.seam import Carry, Parsed, Record, SessionFacts

Values = dict[str, Mapping[str, Any]]
"""Objects of a tree by their file's stem."""


@dataclass(slots=True)
class Tree:
    """A session's files."""

    name: str
    session: Mapping[str, Any]
    messages: Values = field(default_factory=dict)
    parts: defaultdict[str, Values] = field(default_factory=lambda: defaultdict(dict))  # by their message's id


def folders(path: str, listed: Sequence[str]) -> Sequence[str]:
    """The folder of a session's messages, then those of their parts.

    ``session/<project>/<ses>.json`` has ``message/<ses>/`` and ``part/<msg>/`` beside ``session``; the older
    ``session/info/<ses>.json`` has ``message/<ses>/`` and ``part/<ses>/<msg>/`` beside ``info``.
    """
    file = PurePosixPath(path)
    old = file.parent.name == "info"
    home = file.parent.parent if old else file.parent.parent.parent
    talk = home / "message" / file.stem
    if list(listed) == [path]:
        return [str(talk)]
    if not listed or PurePosixPath(listed[0]).parent != talk:
        return []
    parts = home / "part" / file.stem if old else home / "part"
    return [str(parts / PurePosixPath(one).stem) for one in listed]


def parse(carry: Carry, records: Sequence[Record]) -> Parsed:
    """A whole tree: the session's own file first."""
    ledger, about = Ledger(carry), Message()
    tree = _gathered(records)
    for row in _rows(tree):
        part(ledger, row, about)
        _titled(ledger, row)
    if tree.messages:
        _tell(ledger, tree)
    taken = {key for item in ledger.retracted for key in item.keys}
    ledger.restore(tree.name, [key for key in ledger.given() if key not in taken])
    return ledger.close()


def _gathered(records: Sequence[Record]) -> Tree:
    first = records[0] if records else {}
    name = native(PurePosixPath(text_of(first.get("path"))).stem)
    tree = Tree(name, mapping_of(first.get("value")))
    for record in records[1:]:
        file, value = PurePosixPath(text_of(record.get("path"))), mapping_of(record.get("value"))
        if file.parent.name == name and file.parent.parent.name == "message":
            tree.messages[file.stem] = value
        else:
            tree.parts[file.parent.name][file.stem] = value
    return tree


def _rows(tree: Tree) -> Iterator[dict[str, Any]]:
    """Rows as the database would give them, in the order of the conversation."""
    back = mapping_of(tree.session.get("revert"))
    since, since_part = text_of(back.get("messageID")), text_of(back.get("partID"))
    facts, base = _facts(tree), 0
    ordered = sorted(tree.messages, key=lambda id: (_created(tree.messages[id]), id))
    for number, id in enumerate(ordered):
        own, message = tree.parts[id], tree.messages[id]
        spoken = min((key for key, value in own.items() if _spoken(value)), default="")
        images = sum(map(_is_image, own.values()))
        for index, key in enumerate(sorted(own) or [""]):
            gone = bool(since) and (id > since or (id == since and (not since_part or key >= since_part)))
            yield {
                "session": tree.name,
                "message": id,
                "id": key,
                "made": _created(own.get(key, {})) or _created(message) or None,
                "place": base + 2 * index,
                "later": number < len(ordered) - 1,
                "reverted": gone,
                "last": int(index >= len(own) - 1),
                "first": key == spoken,
                "images": images,
                "about": message,
                "data": own.get(key),
                "facts": facts,
            }
        base += (2 * len(own) + PLACES) // PLACES * PLACES


def _facts(tree: Tree) -> dict[str, Any]:
    """What each row tells of its session; the oldest trees say only in messages where it was."""
    cwds = (text_of(mapping_of(tree.messages[id].get("path")).get("cwd")) for id in sorted(tree.messages))
    return {
        "parent": tree.session.get("parentID"),
        "title": tree.session.get("title"),
        "directory": text_of(tree.session.get("directory")) or next(filter(None, cwds), ""),
        "version": tree.session.get("version"),
        "began": mapping_of(tree.session.get("time")).get("created"),
    }


def _created(value: Mapping[str, Any]) -> int:
    """When a message was made, or a part began; 0 when it does not say."""
    time = mapping_of(value.get("time")) or mapping_of(mapping_of(value.get("state")).get("time"))
    made = time.get("created", time.get("start"))
    return made if isinstance(made, int) and not isinstance(made, bool) else 0


def _spoken(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "text" and not true(value.get("synthetic")) and not true(value.get("ignored"))


def _is_image(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "file" and text_of(value.get("mime")).startswith("image/")


def _titled(on: Ledger, row: Record) -> None:
    """What the client noted of a prompt whose own words are lost."""
    about = mapping_of(row.get("about"))
    title = unbriefed(text_of(mapping_of(about.get("summary")).get("title")))
    if about.get("role") != "user" or row.get("data") is not None or not title:
        return
    turn = enter(on, row, TABLE, "")
    if turn is not None:
        meta: dict[str, object] = {"notice": "title"}
        on.put(turn, "title", [say("title", Role.USER, MessageKind.NOTICE, title, meta=meta)])


def _tell(on: Ledger, tree: Tree) -> None:
    """Usage and cost, which only messages have, and whether the session was put away."""
    spent = [mapping_of(message.get("tokens")) for message in tree.messages.values()]
    caches = [mapping_of(tokens.get("cache")) for tokens in spent]
    usage = {name: sum(whole(one.get(name)) or 0 for one in spent) for name in ("input", "output", "reasoning")}
    usage |= {f"cache_{name}": sum(whole(one.get(name)) or 0 for one in caches) for name in ("read", "write")}
    costs = [message.get("cost") for message in tree.messages.values()]
    cost = sum(one for one in costs if isinstance(one, (int, float)) and 0 < one < 1e9)
    extra: dict[str, object] = (
        {"usage": {name: count for name, count in usage.items() if count}} if any(usage.values()) else {}
    )
    if cost:
        extra["cost"] = round(cost, 6)
    archived = micros_of(mapping_of(tree.session.get("time")).get("archived"))
    on.learn(SessionFacts(native_id=tree.name, ended_at=archived, extra=extra))
