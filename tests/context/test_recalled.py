"""What a prompt recalls: how much is looked for, how long messages are told, and what an entry stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from flywheel.api import SearchAnswer
from flywheel.config import Config, ContextConfig
from flywheel.context.assemble import Assembler
from flywheel.context.history import HistorySource
from flywheel.model import Citation, Clean, MessageId, MessageKind, Retrospective, Status, digest
from flywheel.store import Db

from .conftest import NOW, MakeAsk
from .rows import claim, entry, hit, message, session, store


class Asked:
    """A search that finds nothing and remembers what it was asked."""

    def __init__(self) -> None:
        self.limit, self.unasked = 0, False

    def search(self, *, query: str, limit: int, unasked: bool, **rest: object) -> SearchAnswer:
        self.limit, self.unasked = limit, unasked
        return SearchAnswer(query=query, hits=(), reason="no match")


@pytest.mark.parametrize(
    ("budget", "agent", "limit"),
    [
        (0, "opencode", 14),
        (600, "opencode", 14),
        (2000, "opencode", 47),
        (50_000, "opencode", 120),
        (9_000, "codex", 59),
    ],
)
def test_a_larger_briefing_looks_for_more(sqlite_db: Db, tmp_path: Path, budget: int, agent: str, limit: int) -> None:
    """As many hits as may fit, by the budget and by what the agent takes; never fewer than some, nor a flood."""
    asked = Asked()
    config = Config(context=ContextConfig(deadline_ms=10_000))
    assembler = Assembler(sqlite_db, asked, config, lambda: NOW)
    assembler.assemble(cwd=str(tmp_path), query="why?", agent=agent, budget=budget)
    assert (asked.limit, asked.unasked) == (limit, False)
    assembler.assemble(cwd=str(tmp_path), query="why?", agent=agent, budget=budget, session="s")
    assembler.close()
    assert asked.unasked


def test_a_short_message_is_told_whole_or_not_at_all(sqlite_db: Db, make_ask: MakeAsk) -> None:
    """Its head would say little; of a long one there are three lengths."""
    hits = (
        hit("message", "a" * 32, 0.9, role="user", text="One sentence."),
        hit("message", "b" * 32, 0.8, text="x " * 300),
    )
    short, long = HistorySource(sqlite_db).offer(make_ask(query="what?", hits=hits))
    assert [level.name for level in short.levels] == ["body"] and short.levels[0].text.endswith("user: One sentence.")
    assert [level.name for level in long.levels] == ["body", "summary", "title"]


@pytest.mark.parametrize(
    ("text", "told"), [("We use Postgres.", False), ("We use Postgres. " + "And more. " * 9, True)]
)
def test_an_entry_stands_for_what_it_quotes(sqlite_db: Db, make_ask: MakeAsk, text: str, told: bool) -> None:
    """A message that it quotes nearly whole is not told beside it; one of which it quotes a detail is."""
    talk = session("talk", days=1)
    said = message(talk, 0, MessageKind.PROMPT, text)
    page = entry("Postgres")
    statement = claim(page, "We use Postgres.", days=1)
    quote = Clean("We use Postgres.")
    cited = Citation(
        id="c", project_id=page.project_id, claim_id=statement.id, message_id=MessageId(said.id), start=0,
        stop=len(quote), quote=quote, sha256=digest(quote), created_at=NOW,
    )  # fmt: skip
    store(sqlite_db, talk, said, page, statement, cited)
    hits = (hit("entry", page.id, 0.9), hit("message", said.id, 0.8, role="user", text=text))
    pieces = HistorySource(sqlite_db).offer(make_ask(query="what do we use?", hits=hits))
    assert [piece.id for piece in pieces] == ([said.id] if told else [])


def test_beside_a_message_stands_what_its_session_came_to(sqlite_db: Db, make_ask: MakeAsk) -> None:
    """The files that it edited (else read) and what it found to work, once a session, at its best message."""
    worked, looked, talked = (session(name, days=1) for name in ("worked", "looked", "talked"))
    facts = {
        worked.id: {"edited": ["web/map.ts", "a.ts", "b.ts", "c.ts"], "read": ["d.ts"], "found": ["`npm run vitest`"]},
        looked.id: {"read": ["src/a.py", "x" * 99]},
        talked.id: {"open": ["what now?"]},
    }
    retros = [
        Retrospective(
            session_id=one.id, project_id=one.project_id, task=Clean(""), outcome="done", turns=1, tool_calls=0,
            tool_errors=0, facts=facts[one.id], created_at=NOW, updated_at=NOW,
        )
        for one in (worked, looked, talked)
    ]  # fmt: skip
    store(sqlite_db, worked, looked, talked, *retros)
    order = (worked, worked, looked, talked)
    hits = [
        hit("message", f"{number}" * 32, 0.9 - number / 10, role="user", text="The map.", session_id=one.id)
        for number, one in enumerate(order)
    ]
    pieces = HistorySource(sqlite_db).offer(make_ask(query="the map?", hits=hits))
    assert [piece.levels[0].text.partition("The map.")[2] for piece in pieces] == [
        " (files: web/map.ts, a.ts, b.ts; works: `npm run vitest`)", "", " (files: src/a.py)", "",
    ]  # fmt: skip


def test_an_assent_is_not_told(sqlite_db: Db, make_ask: MakeAsk) -> None:
    """It takes room from what says something; a short answer that does is told."""
    said = ("Understood.", "ok, will do", "Yes, do that.", "42", "Go with Redis.", "Good catch.")
    hits = [hit("message", f"{number}" * 32, 0.9, role="user", text=text) for number, text in enumerate(said)]
    pieces = HistorySource(sqlite_db).offer(make_ask(query="what?", hits=hits))
    assert [piece.id[0] for piece in pieces] == ["3", "4"]


@pytest.mark.parametrize(
    ("status", "marked"), [(Status.SUPERSEDED, True), (Status.REJECTED, True), (Status.CANDIDATE, False)]
)
def test_what_was_decided_otherwise_since_is_marked(
    sqlite_db: Db, make_ask: MakeAsk, status: Status, marked: bool
) -> None:
    """Who is told what was said then sees that it does not hold any more, at every length."""
    quote = "We decided on Redis for the mail queue."
    talk = session("talk", days=1)
    said = message(talk, 0, MessageKind.PROMPT, f"Go with it. {quote} {'It is there already. ' * 20}")
    held = claim(entry("Redis"), quote, days=1, status=status)
    cited = Citation(
        id="c", project_id=held.project_id, claim_id=held.id, message_id=said.id, start=12, stop=12 + len(quote),
        quote=Clean(quote), sha256=digest(quote), created_at=NOW,
    )  # fmt: skip
    store(sqlite_db, talk, said, entry("Redis"), held, cited)
    hits = (hit("message", said.id, 0.9, role="user", text=said.text),)
    (piece,) = HistorySource(sqlite_db).offer(make_ask(query="which queue?", hits=hits))
    assert [level.name for level in piece.levels] == ["body", "summary", "title"]
    short = hit("message", said.id, 0.9, role="user", text=quote)
    (alone,) = HistorySource(sqlite_db).offer(make_ask(query="which queue?", hits=(short,)))
    assert alone.levels[0].text.endswith("(no longer holds)") is marked
    assert all((f"(no longer holds: “{quote[:-1]}" in level.text) is marked for level in piece.levels)
