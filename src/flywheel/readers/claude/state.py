"""What the Claude Code reader remembers between two reads of one file, bounded whatever the file's length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, clip, list_of, mapping_of, native, text_of, whole
from flywheel.readers.seam import Carry, Place

_CALLS: Final = 256  # tool calls that wait for their result
_RECENT: Final = 64  # uuids of inline sidechains
_PROMPTS: Final = 32  # prompts that a rewind may go back to
_MESSAGES: Final = 32  # API messages whose usage may still grow
_LEAVES: Final = 8
_QUEUE: Final = 16
_LINKS: Final = 20
_MOST: Final = 2**62  # tokens
_TITLES: Final = ("custom", "ai", "name", "summary", "prompt")  # the first that is there is the title
USAGE: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_USAGE_NAMES: Final = ("input", "output", "cache_read", "cache_write")
_NEVER: Final = Micros(0)


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry; `load` and `dump` translate."""

    session: str = ""  # the file's own conversation: the agent's id in a subagent's file
    trunk: str = ""  # sessionId of the records that have none
    named: str = ""  # sessionId of the last record that had one
    parent: str = ""  # parent named by the sidecar (a nested agent)
    child: bool = False
    at: Micros = _NEVER  # of the last timestamp
    count: int = 0  # drafts so far
    block: int = TEXT_CAP  # characters kept of one block of text
    version: str = ""
    agent_type: str = ""
    calls: dict[str, list[Any]] = field(default_factory=dict)  # call id -> [tool, our own]
    sides: dict[str, str] = field(default_factory=dict)  # uuid -> root uuid of its inline sidechain
    prompts: list[list[Any]] = field(default_factory=list)  # [uuid, parent uuid, ordinal, session]
    leaves: list[str] = field(default_factory=list)
    queue: list[str] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    usage: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    counted: dict[str, list[int]] = field(default_factory=dict)  # message.id -> usage already in ``usage``
    billed: str = ""  # message.id of the last usage, and that usage; not carried
    bill: Mapping[str, Any] = field(default_factory=dict)
    links: list[dict[str, Any]] = field(default_factory=list)
    compactions: int = 0

    @property
    def title(self) -> str:
        """The best title so far."""
        return next((self.titles[name] for name in _TITLES if self.titles.get(name)), "")

    def entitle(self, name: str, text: str) -> None:
        """Remember a title; of one sort the last wins, of a prompt the first."""
        if name == "prompt" and self.titles.get(name):
            return
        line = clip(" ".join(text.split()), 120)
        if line:
            self.titles[name] = line

    def call(self, call_id: str, tool: str, own: bool) -> None:
        """Remember a tool call until its result comes."""
        self.calls[call_id] = [clip(tool, 120), own]
        _trim(self.calls, _CALLS)

    def side(self, uuid: str, parent: str) -> str:
        """The root of the inline sidechain that this record is part of.

        A lost parent does not open a new conversation while one is open, an absent one does.
        """
        if parent:
            root = self.sides.get(parent) or next(reversed(self.sides.values()), "") or uuid
        else:
            root = uuid
        if uuid:
            self.sides[uuid] = root
            _trim(self.sides, _RECENT)
        return root

    def prompted(self, uuid: str, parent: str, session: str) -> int | None:
        """Note a prompt; the ordinal that it goes back to when it replaces an earlier one (same parent)."""
        if not uuid or any(known[0] == uuid for known in self.prompts):
            return None
        since: int | None = None
        if parent:
            twins = [known[2] for known in self.prompts if known[1] == parent and known[3] == session]
            if twins:
                since = min(twins)
                self.prompts = [known for known in self.prompts if known[2] < since or known[3] != session]
        self.prompts.append([uuid, parent, self.count, session])
        del self.prompts[:-_PROMPTS]
        return since

    def passed(self, uuid: str) -> None:
        """Note that a record of the chain went by."""
        self.leaves.append(uuid)
        del self.leaves[:-_LEAVES]

    def spend(self, message: Mapping[str, Any]) -> bool:
        """Count an API message's usage: once per ``message.id``, at its largest. Whether anything was added."""
        name, spent = message.get("id"), message.get("usage")
        if not isinstance(name, str) or not name or not isinstance(spent, dict) or not spent:
            return False
        name = name[:128]
        if name == self.billed and spent == self.bill:
            return False  # the lines of one message repeat its usage
        self.billed, self.bill = name, spent
        given = map(spent.get, USAGE)
        values = [one if type(one) is int and 0 <= one < _MOST else _amount(one) for one in given]
        before = self.counted.pop(name, None)
        if before is None:
            _trim(self.counted, _MESSAGES - 1)
            self.counted[name] = values
            self.usage = list(map(int.__add__, self.usage, values))
            return any(values)
        self.counted[name] = before
        if values == before:
            return False
        grown = self.counted[name] = list(map(max, values, before))
        self.usage = [total + new - old for total, new, old in zip(self.usage, grown, before, strict=True)]
        return grown != before

    def spent(self) -> dict[str, int]:
        """Usage by name, for the session's facts."""
        return dict(zip(_USAGE_NAMES, self.usage, strict=True))

    def link(self, link: dict[str, Any]) -> None:
        """Note a pull request once."""
        if link not in self.links:
            self.links.append(link)
            del self.links[:-_LINKS]

    def enqueue(self, text: str) -> None:
        """Note text typed mid-turn."""
        self.queue.append(clip(text, 2000))
        del self.queue[:-_QUEUE]

    def dump(self) -> Carry:
        """The carry: small values that are empty are left out."""
        named: dict[str, object] = {
            "session": self.session,
            "trunk": self.trunk,
            "named": self.named,
            "parent": self.parent,
            "child": self.child,
            "at": self.at,
            "count": self.count,
            "block": self.block,
            "version": self.version,
            "agent_type": self.agent_type,
            "calls": self.calls,
            "sides": self.sides,
            "prompts": self.prompts,
            "leaves": self.leaves,
            "usage": self.usage if any(self.usage) else [],
            "counted": self.counted,
            "compactions": self.compactions,
        }
        words = {"queue": self.queue, "titles": self.titles, "links": self.links}
        named["words"] = {name: value for name, value in words.items() if value}
        return {name: value for name, value in named.items() if value}


def fresh(place: Place, at: Micros, sidecar: Mapping[str, Any], block: int = TEXT_CAP) -> State:
    """The state before the first record of a file."""
    state = State(session=place.session, trunk=place.parent or place.session, child=place.child, at=at, block=block)
    if place.child:
        state.trunk = place.parent
        state.parent = native(sidecar.get("parentAgentId"))
        about = text_of(sidecar.get("description")) or text_of(sidecar.get("name"))
        kind = state.agent_type = text_of(sidecar.get("agentType"))[:80]
        state.entitle("name", ": ".join(part for part in (kind, about) if part) if about else "")
    return state


def load(carry: Carry) -> State:
    """The state that a carry holds. The carry itself is not touched."""
    words = mapping_of(carry.get("words"))
    return State(
        session=text_of(carry.get("session")),
        trunk=text_of(carry.get("trunk")),
        named=text_of(carry.get("named")),
        parent=text_of(carry.get("parent")),
        child=bool(carry.get("child")),
        at=Micros(int(carry.get("at", 0))),
        count=int(carry.get("count", 0)),
        block=int(carry.get("block", TEXT_CAP)),
        version=text_of(carry.get("version")),
        agent_type=text_of(carry.get("agent_type")),
        calls=dict(mapping_of(carry.get("calls"))),  # entries are replaced whole
        sides=dict(mapping_of(carry.get("sides"))),
        prompts=list(list_of(carry.get("prompts"))),
        leaves=list(list_of(carry.get("leaves"))),
        queue=list(list_of(words.get("queue"))),
        titles=dict(mapping_of(words.get("titles"))),
        usage=list(list_of(carry.get("usage"))) or [0, 0, 0, 0],
        counted=dict(mapping_of(carry.get("counted"))),
        links=[dict(link) for link in list_of(words.get("links"))],
        compactions=int(carry.get("compactions", 0)),
    )


def _amount(value: object) -> int:
    return max(whole(value) or 0, 0)


def _trim(table: dict[str, Any], size: int) -> None:
    while len(table) > size:
        del table[next(iter(table))]
