"""Two projects with knowledge of their own, and hostile transcripts that are imported as any other."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.app.talking import House, open_house
from tests.attacks.cases import TOOLS, Case
from tests.attacks.disguises import UNALIKE

from flywheel import app
from flywheel.model import Claim, Entry
from flywheel.text.inert import without_hidden

KNOWN: Final = (
    "We decided to use Valkey for the price cache because the licence of Redis changed.",
    "Always run `make check` before each commit.",
)
"""What a person confirmed in the project that is attacked."""

WAITING: Final = "We decided to keep parcels in one table because joins were slow."
"""What waits for a person there."""

ELSEWHERE: Final = "We decided to call the marmalade vault Kumquat because the auditors asked for it."
"""What a person confirmed in the other project."""

TOGETHER: Final = 8
"""Cases of one session."""

SESSION: Final = "11111111-2222-4333-8444-{:012d}"


@dataclass(slots=True, kw_only=True, eq=False)
class Siege:
    """The house, what stood in it before, and the folder of the other project."""

    house: House
    other: Path
    entries: list[Entry] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def settle(self) -> None:
        """Everything that follows, at once."""
        for _ in range(2):
            with self.house.parts.db.write() as tx:
                tx.run("UPDATE job SET run_after = 0 WHERE kind NOT IN ('sync', 'render', 'commit', 'lint')")
            app.settle_all(self.house.parts)

    def remember(self) -> None:
        """Take down what stands."""
        self.entries, self.claims = self.house.entries(), self.house.claims()

    def arrive(self, cases: Sequence[Case]) -> None:
        """All cases come in by their doors, in one import."""
        folder = self.house.parts.home / ".claude" / "projects" / "-shop"
        folder.mkdir(parents=True, exist_ok=True)
        talked = [case for case in cases if case.door != "document"]
        for start in range(0, len(talked), TOGETHER):
            self._talk(folder, SESSION.format(talked[start].number), talked[start : start + TOGETHER])
        for case in cases:
            if case.door == "document":
                self.house.write(f"docs/{case.disguise}.md", case.text)
                self.house.app.add(cwd=str(self.house.project), path=f"docs/{case.disguise}.md")
        self.house.app.import_path()
        self.settle()

    def _talk(self, folder: Path, native: str, cases: Sequence[Case]) -> None:
        records: list[Mapping[str, Any]] = [_prompt("Why is the build slow?")]
        for case in cases:
            if case.door in TOOLS:
                records += _called(case)
            elif case.door == "reply":
                records.append(_answer({"type": "text", "text": case.text}))
            elif case.door == "prompt":
                records.append(_prompt(f"What do you make of this page?\n\n{case.text}"))
            elif case.door == "subagent":
                agent = f"a{case.number:016x}"
                sub = [_prompt(case.text), _answer({"type": "text", "text": "Done."})]
                _write(folder / native / "subagents" / f"agent-{agent}.jsonl", native, self.house.project, sub, agent)
        _write(folder / f"{native}.jsonl", native, self.house.project, records)


def _prompt(text: str) -> Mapping[str, Any]:
    return {"type": "user", "promptSource": "typed", "message": {"role": "user", "content": text}}


def _answer(*content: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "model": "m", "content": list(content)}}


def _called(case: Case) -> list[Mapping[str, Any]]:
    id, tool = f"toolu_{case.number}", case.tool
    given = {"url": "https://docs.example/page"} if case.door == "web" else {"command": "cat notes"}
    result = {"type": "tool_result", "tool_use_id": id, "content": case.text, "is_error": case.disguise == "error"}
    return [
        _answer({"type": "tool_use", "id": id, "name": tool, "input": given}),
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]


def _write(path: Path, native: str, cwd: Path, records: Sequence[Mapping[str, Any]], agent: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, record in enumerate(records):
        whole = {
            "uuid": f"{agent or native}-{number}", "sessionId": native, "cwd": str(cwd), "version": "2.1.300",
            "isSidechain": bool(agent), "timestamp": f"2026-03-02T{9 + number // 60:02d}:{number % 60:02d}:00Z",
            **({"agentId": agent} if agent else {}), **record,
        }  # fmt: skip
        lines.append(json.dumps(whole))
    path.write_text("\n".join(lines) + "\n")


def open_siege(folder: Path, store_url: str) -> Siege:
    """Both projects, what a person confirmed in them, and what waits."""
    house = open_house(folder, store_url)
    other = folder / "vault"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    siege = Siege(house=house, other=other)
    said = {"one": (house.project, [*KNOWN, WAITING]), "two": (other, [ELSEWHERE])}
    for session, (cwd, texts) in said.items():
        house.say(session, *(("user", text) for text in texts), cwd=cwd)
        for text in texts:
            given = {"statement": text, "quote": text, "cwd": str(cwd), "agent": "claude", "session": session}
            id = house.app.propose(**given).id
            if text != WAITING:
                house.app.confirm(ids=[id], who="mara", door="terminal")
    siege.settle()
    siege.remember()
    return siege


def plain(text: str) -> str:
    """Lower case, with nothing hidden and no letters of other alphabets that look alike."""
    return without_hidden(text).translate(UNALIKE).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was made of one attack: claims that have its word, with the kind and tool of the message they cite."""

    claim: Claim
    kind: str  # of a message, or "document"


def taken(siege: Siege) -> list[Taken]:
    """All claims that were not there before."""
    known = {claim.id for claim in siege.claims}
    with siege.house.parts.db.read() as tx:
        kinds: dict[str, str] = dict(
            tx.all(
                "SELECT c.claim_id, COALESCE(m.kind, 'document') FROM citation c"
                " LEFT JOIN message m ON m.id = c.message_id"
            )
        )
    return [Taken(claim=one, kind=kinds[one.id]) for one in siege.house.claims() if one.id not in known]
