"""What the Copilot reader remembers between two reads of one event log, bounded whatever its length."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, clip, list_of, mapping_of, text_of
from flywheel.readers.seam import Carry, Place

_CALLS: Final = 256  # tool calls that wait for their result
_AGENTS: Final = 128
_PROMPTS: Final = 64  # events that a rewind may go back to
_THOUGHTS: Final = 8
_FILES: Final = 100
_FIELD: Final = re.compile(r"^(cwd|name|branch):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_NEVER: Final = Micros(0)


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry; `load` and `dump` translate."""

    session: str = ""
    named: bool = False  # the session's id is the one that its start gives
    parent: str = ""
    at: Micros = _NEVER  # of the last timestamp
    count: int = 0  # drafts so far
    block: int = TEXT_CAP  # characters kept of one block of text
    compactions: int = 0
    usage: dict[str, int] = field(default_factory=dict)
    calls: dict[str, list[Any]] = field(default_factory=dict)  # call id -> [tool, our own]
    agents: dict[str, str] = field(default_factory=dict)  # call id that started it -> agent's native id
    known: dict[str, list[Any]] = field(default_factory=dict)  # agent's native id -> [parent, has a title]
    prompts: dict[str, int] = field(default_factory=dict)  # hash of an event's id -> ordinal
    thoughts: list[str] = field(default_factory=list)  # length and checksum of the last ones
    title: str = ""
    prompt: str = ""  # the first one
    cwd: str = ""
    branch: str = ""
    files: list[str] = field(default_factory=list)  # that were modified

    def call(self, call_id: str, tool: str, own: bool) -> None:
        """Remember a tool call."""
        self.calls[call_id] = [clip(tool, 120), own]
        trim(self.calls, _CALLS)

    def spawned(self, call_id: str, agent: str) -> None:
        """Remember which call started an agent."""
        self.agents[call_id] = agent
        trim(self.agents, _AGENTS)

    def parent_of(self, agent: str, parent: str = "") -> str:
        """The session that started an agent: as it was first told, else the log's own."""
        about = self.known.get(agent)
        if about is None:
            about = self.known[agent] = [parent if parent not in ("", agent) else self.session, False]
            trim(self.known, _AGENTS)
        return text_of(about[0])

    def entitled(self, agent: str) -> bool:
        """Whether this is the first title of an agent."""
        about = self.known.get(agent)
        if about is None or about[1]:
            return False
        about[1] = True
        return True

    def prompted(self, event: str) -> None:
        """Note a prompt that a rewind may go back to."""
        self.prompts.setdefault(brief(event), self.count)
        trim(self.prompts, _PROMPTS)

    def thought(self, text: str) -> bool:
        """Whether this was not thought just before: one event streams it, another holds it."""
        name = f"{len(text)}.{zlib.crc32(text.encode('utf-8', 'surrogatepass')):x}"
        if name in self.thoughts:
            return False
        self.thoughts.append(name)
        del self.thoughts[:-_THOUGHTS]
        return True

    def spend(self, totals: Mapping[str, int]) -> None:
        """Tokens that a session's end tells: of the whole session, or (older clients) since it was resumed."""
        grown = all(totals.get(name, 0) >= value for name, value in self.usage.items())
        self.usage = dict(totals) if grown else {n: self.usage.get(n, 0) + value for n, value in totals.items()}

    def modified(self, files: list[str]) -> None:
        """Note files that were modified."""
        self.files = list(dict.fromkeys([*self.files, *files]))[:_FILES]

    def dump(self) -> Carry:
        """The carry: small values that are empty are left out."""
        bare: dict[str, object] = {
            "session": self.session, "named": self.named, "parent": self.parent, "at": self.at,
            "count": self.count, "block": self.block, "compactions": self.compactions, "usage": self.usage,
            "calls": self.calls, "agents": self.agents, "known": self.known, "prompts": self.prompts,
            "thoughts": self.thoughts,
        }  # fmt: skip
        words = {"title": self.title, "prompt": self.prompt, "cwd": self.cwd, "branch": self.branch}
        bare["words"] = {name: value for name, value in {**words, "files": self.files}.items() if value}
        return {name: value for name, value in bare.items() if value}


def fresh(place: Place, at: Micros, sidecar: Mapping[str, Any], block: int) -> State:
    """The state before the first event; the sidecar is the text of ``workspace.yaml``."""
    state = State(session=place.session, at=at, block=block)
    about = {name: value.strip("'\"") for name, value in _FIELD.findall(text_of(sidecar.get("text"))[:20_000])}
    state.title = clip(about.get("name", ""), 120)
    state.cwd, state.branch = about.get("cwd", "")[:4096], about.get("branch", "")[:250]
    return state


def load(carry: Carry) -> State:
    """The state that a carry holds. The carry itself is not touched."""
    words = mapping_of(carry.get("words"))
    return State(
        session=text_of(carry.get("session")),
        named=bool(carry.get("named")),
        parent=text_of(carry.get("parent")),
        at=Micros(int(carry.get("at", 0))),
        count=int(carry.get("count", 0)),
        block=int(carry.get("block", TEXT_CAP)),
        compactions=int(carry.get("compactions", 0)),
        usage=dict(mapping_of(carry.get("usage"))),
        calls=dict(mapping_of(carry.get("calls"))),  # entries are replaced whole
        agents=dict(mapping_of(carry.get("agents"))),
        known={agent: list(value) for agent, value in mapping_of(carry.get("known")).items()},
        prompts=dict(mapping_of(carry.get("prompts"))),
        thoughts=list(list_of(carry.get("thoughts"))),
        title=text_of(words.get("title")),
        prompt=text_of(words.get("prompt")),
        cwd=text_of(words.get("cwd")),
        branch=text_of(words.get("branch")),
        files=list(list_of(words.get("files"))),
    )


def brief(text: str) -> str:
    """A short hash."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def trim(table: dict[str, Any], size: int) -> None:
    """Forget the oldest entries of a table."""
    while len(table) > size:
        del table[next(iter(table))]
