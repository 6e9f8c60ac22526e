"""Typed beliefs of several users and scopes: does a question bring exactly those that it means, and no forbidden one?

Each belief is said by its user in a session, filed by the product's own verb ``propose`` with its words as the quote,
and then decided about as the data has it: confirmed, pinned, superseded by another, invalidated once it is resolved. A
user is a project, a belief's domain its scope; what is universal has none. Its canonical name and aliases are a term of
the project's glossary whose target it is. What depends on what is found by the product's own rules.

What is pinned or universal is told at a session's start, in a tier of its own, and takes its places of a budget; a
question is answered from the rest, by the product's search as a prompt's briefing asks it (``meant``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import Brought, Floor, Said, Talk, brought_in, native, percent, read_lines

UNIVERSAL: Final = "user:universal"
DEPTH: Final = 5
"""Beliefs of the floor's answers."""

LIMIT: Final = 10
"""Beliefs of an answer without a budget."""

PERSON: Final[Mapping[str, Any]] = {"who": "benchmark", "door": "terminal"}
TYPES: Final[Mapping[str, str]] = {
    "decision": "decision",
    "open_question": "hypothesis",
    "entity": "fact",
    "relation": "fact",
}

Belief = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question, and what may come."""

    id: str
    user: str
    scopes: frozenset[str]
    query: str
    budget: int | None
    wanted: frozenset[str] | None  # None: only exclusions are said
    unwanted: frozenset[str]
    made: Belief | None = None  # a belief that comes into being after the question
    renamed: tuple[str, tuple[str, ...]] | None = None  # a belief that has more aliases afterwards


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions (all unless given) of ``data/cases.jsonl`` and of the sessions of
    ``data/session_cases.jsonl`` over ``data/beliefs.jsonl``; a few of our own without ``data``.

    In percent: ``precision`` and ``recall``, the means over all questions that say what may come (where nothing may,
    an empty answer is right, anything else wrong), ``precision_answerable`` and ``recall_answerable`` of those alone
    that have an answer, ``exact``: nothing missing and nothing more. ``leaks``: how many superseded, resolved,
    wrongly scoped or other users' beliefs, or ones that the question rules out, came in all answers together.
    ``floor``: the first five by plain full text (BM25 over name, aliases and text) without any filter; ``filtered_``
    the same with the hard filters of status, scope and user.
    """
    beliefs, cases = _own() if data is None else _read(data)
    cases = cases[: n or None]
    plain = Floor([(one["_id"], "", _words(one)) for one in _all(beliefs, cases)])
    with _stored(beliefs, cases) as house:
        results = _measure(cases, house.ask, house.rules)
    floor = _measure(cases, lambda case: plain.search(case.query)[:DEPTH], _Rules.of(beliefs, cases))
    rules = _Rules.of(beliefs, cases)
    kept = _measure(cases, lambda case: [id for id in plain.search(case.query) if rules.may(id, case)][:DEPTH], rules)
    return {
        "results": results,
        "floor": floor | {f"filtered_{name}": value for name, value in kept.items()},
        "n": len(cases),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """What may come at all: the data's own hard filters."""

    beliefs: Mapping[str, Belief]

    @classmethod
    def of(cls, beliefs: Sequence[Belief], cases: Sequence[Case]) -> _Rules:
        return cls(beliefs={one["_id"]: one for one in _all(beliefs, cases)})

    def may(self, id: str, case: Case) -> bool:
        """Whether a belief holds, for this user, in one of the question's scopes."""
        one = self.beliefs[id]
        gone = one["epistemic_status"] == "superseded" or bool(one.get("resolved_at"))
        return not gone and one["user_id"] == case.user and bool(set(one["scope"]) & (case.scopes | {UNIVERSAL}))

    def told(self, id: str, case: Case) -> bool:
        """Whether it is told at the start of a session in the question's scopes."""
        one = self.beliefs[id]
        return self.may(id, case) and (bool(one["pinned"]) or UNIVERSAL in one["scope"])


def _measure(cases: Sequence[Case], find: Callable[[Case], Sequence[str]], rules: _Rules) -> dict[str, float]:
    scored: list[tuple[bool, float, float]] = []
    leaks = 0
    for case in cases:
        found = find(case)
        leaks += sum(not rules.may(id, case) or id in case.unwanted for id in found)
        if case.wanted is None:
            continue
        hits = len(case.wanted & set(found))
        precision = hits / len(found) if found else float(not case.wanted)
        scored.append((bool(case.wanted), precision, hits / len(case.wanted) if case.wanted else float(not found)))
    some = [one for one in scored if one[0]]
    return {
        "precision": percent([precision for _, precision, _ in scored]),
        "recall": percent([recall for _, _, recall in scored]),
        "precision_answerable": percent([precision for _, precision, _ in some]),
        "recall_answerable": percent([recall for _, _, recall in some]),
        "exact": percent([float(precision == recall == 1) for _, precision, recall in scored]),
        "leaks": float(leaks),
    }


@dataclass(slots=True, kw_only=True)
class _House:
    """The store that holds the beliefs."""

    brought: Brought
    app: Any  # flywheel.app.App
    entries: dict[str, str] = field(default_factory=dict)  # belief → entry
    beliefs: dict[str, str] = field(default_factory=dict)  # entry → belief
    aliases: dict[str, dict[str, None]] = field(default_factory=dict)
    rules: _Rules
    due: list[Case] = field(default_factory=list)  # what happens after questions that were asked

    def ask(self, case: Case) -> list[str]:
        """The beliefs of an answer, best first, without those that the session was told at its start."""
        self._catch_up()
        told = {id for id in self.entries if self.rules.told(id, case)}
        pinned = sum(bool(self.rules.beliefs[id]["pinned"]) for id in told)
        limit = LIMIT if case.budget is None else max(0, case.budget - pinned)
        hits = self.brought.searcher.search(
            query=case.query,
            projects=self.brought.projects.get(case.user) or ["nobody"],
            kinds=("entry",),
            limit=LIMIT + len(told),
            said=True,
            scopes=sorted(case.scopes),
            meant=True,
        ).hits
        if case.made or case.renamed:
            self.due.append(case)
        found = [self.beliefs[hit.id] for hit in hits]
        return [id for id in found if id not in told][:limit]

    def _catch_up(self) -> None:
        for case in self.due:
            if case.made is not None:
                self.file(case.made)
            if case.renamed is not None:
                self.name(case.renamed[0], case.renamed[1])
        if self.due:
            _settle(self.brought.parts)
        self.due.clear()

    def file(self, one: Belief) -> None:
        """Propose a belief with its words as the quote, and decide about it as the data does."""
        folder = self.brought.folders[one["user_id"]]
        scope = ",".join(sorted(set(one["scope"]) - {UNIVERSAL}))
        filed = self.app.propose(
            statement=one["content"],
            quote=one["content"],
            cwd=folder,
            type=TYPES.get(one["type"], ""),
            scope=scope,
            agent="claude",
            session=native(f"talk {one['user_id']}"),
        )
        self.entries[one["_id"]] = filed.id
        self.beliefs[filed.id] = one["_id"]
        if one["epistemic_status"] == "active":
            self.app.confirm(ids=[filed.id], **PERSON)
        if one["pinned"]:
            self.app.pin(ids=[filed.id], **PERSON)
        if one.get("resolved_at"):
            self.app.invalidate(ids=[filed.id], reason="it was resolved", **PERSON)
        self.name(one["_id"], one["aliases"])

    def replace(self, one: Belief) -> None:
        """Let what took a belief's place stand in its place."""
        if one.get("superseded_by"):
            old, new = self.entries[one["_id"]], self.entries[one["superseded_by"]]
            self.app.supersede(old=old, new=new, reason="replaced", **PERSON)

    def name(self, id: str, aliases: Sequence[str]) -> None:
        """A term of the glossary whose target the belief is, with more synonyms than it had."""
        from flywheel.model import short_id

        one = self.rules.beliefs[id]
        known = self.aliases.setdefault(id, {})
        known.update(dict.fromkeys(aliases))
        self.app.term_set(
            name=one["canonical_name"].replace("_", " "),
            synonyms=list(known),
            targets=[short_id(self.entries[id])],
            cwd=self.brought.folders[one["user_id"]],
            **PERSON,
        )


@contextmanager
def _stored(beliefs: Sequence[Belief], cases: Sequence[Case]) -> Iterator[_House]:
    from flywheel import app

    said: dict[str, list[Belief]] = {}
    for one in _all(beliefs, cases):
        said.setdefault(one["user_id"], []).append(one)
    talks = [
        Talk(
            id=f"talk {user}",
            project=user,
            at=datetime(2026, 9, 1, 9, tzinfo=UTC),
            messages=[Said(id=one["_id"], user=True, text=one["content"]) for one in ones],
        )
        for user, ones in said.items()
    ]
    with brought_in(talks) as brought:
        house = _House(brought=brought, app=app.App(brought.parts), rules=_Rules.of(beliefs, cases))
        for one in beliefs:
            house.file(one)
        for one in beliefs:
            house.replace(one)
        _settle(brought.parts)
        print(f"{len(house.beliefs)} beliefs filed", file=sys.stderr)
        yield house
        house.app.close()


def _settle(parts: Any) -> None:
    """Bring the indexes up to date."""
    from flywheel import app

    indexer = app.Indexer(parts)
    while indexer.step():
        pass
    indexer.close()


def _all(beliefs: Sequence[Belief], cases: Sequence[Case]) -> list[Belief]:
    return [*beliefs, *(case.made for case in cases if case.made is not None)]


def _words(one: Belief) -> str:
    return " ".join((one["canonical_name"].replace("_", " "), *one["aliases"], one["content"]))


def _read(data: Path) -> tuple[Sequence[Belief], list[Case]]:
    beliefs = read_lines(data / "beliefs.jsonl")
    cases = [_case(one["caseId"], one, one["query"]) for one in read_lines(data / "cases.jsonl")]
    for session in read_lines(data / "session_cases.jsonl"):
        turns = session["turns"]
        cases += [_case(f"{session['caseId']} {turn['turnIndex']}", turn, turn["userMessage"]) for turn in turns]
    return beliefs, cases


def _case(id: str, one: Mapping[str, Any], query: str) -> Case:
    expected = one["expect"]
    relevant = expected.get("relevantBeliefs", {})
    wanted = relevant.get("shouldOnlyInclude")
    unwanted = {*relevant.get("mustExclude", ()), *expected.get("noiseCheck", {}).get("mustNotSurface", ())}
    renamed = one.get("updateBeliefAtTurn")
    return Case(
        id=id,
        user=one.get("userId", "test-user"),
        scopes=frozenset(one["scope"]),
        query=query,
        budget=one.get("budget", {}).get("maxBeliefs"),
        wanted=None if wanted is None else frozenset(wanted),
        unwanted=frozenset(unwanted),
        made=one.get("createBeliefAtTurn"),
        renamed=(renamed["beliefId"], tuple(renamed["addAliases"])) if renamed else None,
    )


def _own() -> tuple[Sequence[Belief], list[Case]]:
    """Beliefs of our own about a harbour, for a run without a data folder."""
    rows = (
        ("a", "crane plan", ("lifting plan",), "The crane plan is kept in Postgres.", "domain:code", "active", False),
        ("a", "tide table", ("TT", "tides"), "Tide tables are read from a CSV of the port authority.", "domain:code",
         "active", False),
        ("a", "old table", ("almanac",), "Tides were typed in from the almanac.", "domain:code", "superseded", False),
        ("a", "harbour song", ("tides",), "The second verse of the song speaks of the tides.", "domain:music", "active",
         False),
        ("a", "short answers", (), "Wants short answers.", UNIVERSAL, "active", True),
        ("b", "crane plan", ("lifting plan",), "The crane plan is drawn on paper.", "domain:code", "active", False),
    )  # fmt: skip
    beliefs: list[Belief] = [
        {
            "_id": f"{user} {name}", "user_id": user, "type": "entity", "canonical_name": name,
            "aliases": list(aliases), "content": content, "scope": [scope], "epistemic_status": status,
            "pinned": pinned, "superseded_by": "a tide table" if status == "superseded" else None,
        }
        for user, name, aliases, content, scope, status, pinned in rows
    ]  # fmt: skip
    asked = (
        ("Where is the lifting plan kept?", "domain:code", ("a crane plan",)),
        ("Where do the tides come from?", "domain:code", ("a tide table",)),
        ("Is the almanac still in use?", "domain:code", ("a tide table",)),
        ("Which verse speaks of the tides?", "domain:music", ("a harbour song",)),
        ("What is the weather like?", "domain:code", ()),
    )
    cases = [
        Case(id=query, user="a", scopes=frozenset({scope}), query=query, budget=None, wanted=frozenset(wanted),
             unwanted=frozenset())
        for query, scope, wanted in asked
    ]  # fmt: skip
    return beliefs, cases
