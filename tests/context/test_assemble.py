"""Whole briefings: budgets, deadlines, what is left out, and two sessions of two agents."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flywheel.api import Briefing, SearchAnswer
from flywheel.config import Config, ContextConfig
from flywheel.context.agents import agent_of
from flywheel.context.allocator import Piece
from flywheel.context.ask import SOURCES, Ask, Source
from flywheel.context.assemble import Assembler
from flywheel.index.follow import step
from flywheel.index.text import TextFollower
from flywheel.index.text_read import TextReader
from flywheel.model import MessageKind, ProjectId, Status
from flywheel.projects.queries import resolve
from flywheel.search.query import Searcher
from flywheel.store import Db
from flywheel.text.tokens import count

from .conftest import NOW
from .rows import claim, entry, message, session, store

LONG = 30.0
CONFIG = Config(context=ContextConfig(deadline_ms=10_000))


class Nothing:
    """A search that finds nothing."""

    def search(self, *, query: str, **rest: object) -> SearchAnswer:
        return SearchAnswer(query=query, hits=(), reason="no match")


class Given:
    """A source with given texts, most relevant first; "!" raises, a lambda is called first."""

    def __init__(self, name: str, *texts: str, before: Callable[[], object] = lambda: None) -> None:
        self.name, self.texts, self.before = name, texts, before
        self.asked: list[Ask] = []

    def offer(self, ask: Ask) -> Sequence[Piece]:
        self.asked.append(ask)
        self.before()
        return [
            ask.piece(
                kind="entry", id=f"{self.name}{n}", short=f"{n:06d}", relevance=1 - n / 1000,
                texts={"body": text, "title": text[: len(text) // 2]},
            )
            for n, text in enumerate(self.texts)
            if f"{self.name}{n}" not in ask.exclude
        ]  # fmt: skip


Make = Callable[..., Assembler]


@pytest.fixture
def make(sqlite_db: Db) -> Iterator[Make]:
    """An assembler over given sources, or over the real ones."""
    made: list[Assembler] = []

    def assembler(sources: Sequence[Source] | None = None, config: Config = CONFIG, **more: object) -> Assembler:
        search = more.pop("searcher", Nothing())
        made.append(Assembler(sqlite_db, search, config, lambda: NOW, sources=sources, **more))  # type: ignore[arg-type]
        return made[-1]

    yield assembler
    for one in made:
        one.close()


def notes(briefing: Briefing) -> dict[str, str]:
    return {part.source: part.note for part in briefing.slices}


def test_slow_and_failing_sources_give_empty_slices(make: Make, tmp_path: Path) -> None:
    """The briefing comes in time with what the others gave; the record names the slow one and the failing one."""
    hold = threading.Event()
    hold.set()

    def fail() -> None:
        raise OSError("disk")

    sources = [
        Given("slot", "here"),
        Given("skills", "never", before=lambda: hold.wait(LONG)),
        Given("entries", "known"),
        Given("history", "lost", before=fail),
    ]
    for deadline in (1000, 4000, 10000):  # on a busy machine, the others need more than a second as well
        assembler = make(sources, Config(context=ContextConfig(deadline_ms=deadline)))
        hold.set()
        try:
            assembler.assemble(cwd=str(tmp_path))  # the folder is known from now on
            hold.clear()
            briefing = assembler.assemble(cwd=str(tmp_path), session=f"s{deadline}")
        finally:
            hold.set()
        if list(notes(briefing).values()).count("slow") == 1:
            break
    assert "known" in briefing.text and "never" not in briefing.text
    assert notes(briefing) == {"slot": "", "skills": "slow", "entries": "", "history": "failed: OSError"}
    assert list(briefing.notes) == ["skills: slow", "history: failed: OSError"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.lists(st.text("ab \n<>é中😀", min_size=1, max_size=900), max_size=6),
        min_size=len(SOURCES),
        max_size=len(SOURCES),
    ),
    budget=st.integers(0, 9000),
    agent=st.sampled_from(["claude", "codex", "gemini"]),
)
def test_finished_text_never_exceeds_any_limit(
    make: Make, tmp_path: Path, texts: list[list[str]], budget: int, agent: str
) -> None:
    """The text as it goes out, frame and headings included: within budget and the agent's limit, and repeatable."""
    assembler = make([Given(name, *those) for name, those in zip(SOURCES, texts, strict=True)])
    briefing = assembler.assemble(cwd=str(tmp_path), agent=agent, budget=budget)
    assert briefing.tokens == count(briefing.text) <= budget
    assert agent_of(agent).cost(briefing.text).fits(agent_of(agent).limit(budget))
    again = assembler.assemble(cwd=str(tmp_path), agent=agent, budget=budget)
    assert (again.text, again.slices) == (briefing.text, briefing.slices)
    assembler.close()


@pytest.mark.parametrize(("agent", "units"), [("claude", 10_000), ("codex", 10_000)])
def test_agents_limit_holds_under_a_large_budget(make: Make, tmp_path: Path, agent: str, units: int) -> None:
    """With 9,000 tokens asked for, Claude Code still gets at most 10,000 UTF-16 units and Codex 2,500 tokens."""
    lines = [f"- line {n} " + "word " * 30 for n in range(400)]
    text = make([Given("entries", *lines)]).assemble(cwd=str(tmp_path), agent=agent, budget=9_000).text
    assert agent_of(agent).units(text) <= units and agent_of(agent).units(text) > units * 0.5
    assert agent != "codex" or count(text) <= 2_500


def test_what_the_session_has_is_not_given_again(make: Make, tmp_path: Path) -> None:
    """Every source sees the excluded ids; when nothing is left, the text is empty."""
    assembler = make([Given("entries", "apples", "pears")])
    first = assembler.assemble(cwd=str(tmp_path), exclude=["entries0"])
    assert "pears" in first.text and "apples" not in first.text
    second = assembler.assemble(cwd=str(tmp_path), exclude=["entries0", "entries1"])
    assert (second.text, second.tokens, list(second.slices)) == ("", 0, [])


def test_folder_and_git_state_alone_are_not_worth_injecting(make: Make, repo: Path) -> None:
    """An agent knows where it is: without anything else the text is empty, and the note says so."""
    briefing = make().assemble(cwd=str(repo))
    assert briefing.text == "" and "nothing is worth injecting" in briefing.notes and briefing.project == "repo"


@pytest.mark.parametrize("cwd", ["", "relative/path", "/a\0b", "/no/such/folder"])
def test_odd_folders_are_no_error(make: Make, cwd: str) -> None:
    """No folder, a relative one, a broken one and one that is gone: an empty briefing."""
    assert make().assemble(cwd=cwd).text == ""


def test_no_budget_no_text(make: Make, tmp_path: Path) -> None:
    """A budget that does not even hold the frame gives nothing."""
    for budget in (0, 1, 20):
        assert make([Given("entries", "one")]).assemble(cwd=str(tmp_path), budget=budget).text == ""


def test_sources_hear_what_the_session_is_about(make: Make, repo: Path) -> None:
    """Branch, commits and changed files are cues of a start; a prompt is the only cue of a prompt."""
    (repo / "invoice.py").write_text("x = 1\n")
    source = Given("entries", "one")
    assembler = make([source])
    assembler.assemble(cwd=str(repo))
    assembler.assemble(cwd=str(repo), query="round the cents")
    start, prompt = source.asked
    assert {"login", "invoice", "teach", "remember"} <= set(start.cues) and start.branch == "fix-login"
    assert set(prompt.cues) == {"round", "cents"}


def project_of(db: Db, folder: Path) -> ProjectId:
    return resolve(db, str(folder), NOW).id


def own(db: Db, folder: Path, *rows: object) -> None:
    """Store rows of the folder's project."""
    project = project_of(db, folder)
    store(db, *(replace(row, project_id=project) for row in rows))  # type: ignore[type-var]


def test_session_two_receives_session_ones_unreviewed_finding(make: Make, sqlite_db: Db, repo: Path) -> None:
    """Served by default, marked unconfirmed; a setting turns that off."""
    own(sqlite_db, repo, entry("Retry uploads three times", status=Status.CANDIDATE))
    text = make().assemble(cwd=str(repo)).text
    assert "Retry uploads three times" in text and "unconfirmed" in text
    assert "Cockpit: 1 unconfirmed;" in text
    off = Config(context=ContextConfig(deadline_ms=10_000, candidates=False))
    assert make(config=off).assemble(cwd=str(repo)).text == ""


def test_candidates_keep_to_a_fifth_and_behind_the_confirmed(make: Make, sqlite_db: Db, repo: Path) -> None:
    """A flood of candidates takes at most a fifth of the entries' share, and none stands above its confirmed rival."""
    rivals = [
        entry("Cents it is", subject="money", days=300),
        entry("Floats", subject="money", status=Status.CANDIDATE),
    ]
    flood = [entry(f"Finding number {n} of many", status=Status.CANDIDATE, days=n / 10) for n in range(60)]
    own(sqlite_db, repo, *rivals, *flood)
    briefing = make().assemble(cwd=str(repo))
    (part,) = [part for part in briefing.slices if part.source == "entries"]
    unreviewed = [item for item in part.items if "unconfirmed" in item.text]
    assert unreviewed and sum(item.tokens for item in unreviewed) <= part.share / 5
    texts = [item.text for item in part.items]
    floats = [n for n, text in enumerate(texts) if "Floats" in text]
    cents = [n for n, text in enumerate(texts) if "Cents it is" in text]
    assert cents and all(cents[0] < n for n in floats)


def test_two_agents_get_each_others_files(make: Make, sqlite_db: Db, repo: Path) -> None:
    """The same folder and memory: each agent gets the knowledge, and the other's conventions and skills."""
    (repo / "CLAUDE.md").write_text("Use integer cents for money.\n")
    (repo / "AGENTS.md").write_text("Run make seed first.\n")
    for folder, name in ((".claude", "release"), (".agents", "bisect")):
        (repo / folder / "skills" / name).mkdir(parents=True)
        (repo / folder / "skills" / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: How to {name}\n---\n"
        )
    own(sqlite_db, repo, entry("Mail goes through the outbox"))
    claude = make().assemble(cwd=str(repo), agent="claude").text
    codex = make().assemble(cwd=str(repo), agent="codex").text
    assert "outbox" in claude and "outbox" in codex
    assert "make seed" in claude and "bisect" in claude and "cents" not in claude and "release" not in claude
    assert "cents" in codex and "release" in codex and "make seed" not in codex and "bisect" not in codex


def test_briefing_of_a_small_project_reads_like_this(make: Make, sqlite_db: Db, repo: Path) -> None:
    """The golden text: what a person and a model are given, every item with its id, status and day."""
    (repo / "AGENTS.md").write_text("# Tests\n\nRun pytest with -x.\n")
    dispute = entry("Session lifetime", status=Status.DISPUTED, days=4)
    own(
        sqlite_db,
        repo,
        entry("Use integer cents", summary="Use integer cents, never floats, for money.", days=90, evidence=3),
        entry("Seed before tests", status=Status.CANDIDATE, days=2, summary="The tests need `make seed` first."),
        dispute,
        claim(dispute, "30 minutes", days=30),
        claim(dispute, "2 hours", days=4),
        session("earlier", days=1, title="Fix the login loop"),
        message(session("earlier", days=1), 1, MessageKind.PROMPT, "Why is the cookie lost?"),
    )
    os.utime(repo / "AGENTS.md", ns=(NOW * 1000, NOW * 1000))
    text = make().assemble(cwd=str(repo)).text
    shown = text.replace(str(repo), "/home/dev/repo")
    golden = Path(__file__).parent / "golden" / "briefing.txt"
    assert_golden(golden, shown)


def assert_golden(path: Path, text: str) -> None:
    """Compare with a golden file; ids, which hold the temporary folder's path, are left out."""
    shown = re.sub(r"\[fw:[0-9a-f]{6}\]", "[fw:ID]", text) + "\n"
    assert shown == path.read_text("utf-8"), shown


@pytest.fixture
def searcher(sqlite_db: Db, data: Path) -> Iterator[Callable[[], Searcher]]:
    """The real search over a real index that has caught up when it is asked for."""
    follower = TextFollower(data / "index" / "text")

    def ready() -> Searcher:
        while step(sqlite_db, follower):
            pass
        return Searcher(sqlite_db, TextReader(data / "index" / "text"), None, None, CONFIG)

    yield ready
    follower.close()


def test_prompt_gets_what_it_asks_for_and_nothing_else(
    make: Make, sqlite_db: Db, repo: Path, searcher: Callable[[], Searcher]
) -> None:
    """Over the real index: the entry and the message that the prompt speaks of; nothing for one about nothing here."""
    (repo / "AGENTS.md").write_text("Run make seed first.\n")
    past = session("earlier", days=1)
    own(
        sqlite_db,
        repo,
        entry("Redis was replaced by PostgreSQL", summary="Redis lost jobs on restart, so the queue is in PostgreSQL."),
        entry("Header colour is teal"),
        past,
        message(past, 1, MessageKind.PROMPT, "Redis lost three jobs on restart again last night"),
    )
    assembler = make(searcher=searcher())
    briefing = assembler.assemble(
        cwd=str(repo), query="why was redis replaced as the job queue?", budget=600, session="s2"
    )
    assert "Redis lost jobs on restart, so the queue" in briefing.text and "lost three jobs" in briefing.text
    assert "teal" not in briefing.text and "seed" not in briefing.text and "Here and now" not in briefing.text
    assert briefing.tokens <= 600
    had = [item.id for part in briefing.slices for item in part.items]
    again = assembler.assemble(
        cwd=str(repo), query="why was redis replaced as the job queue?", session="s2", exclude=had
    )
    assert again.text == ""
    assert assembler.assemble(cwd=str(repo), query="kubernetes ingress certificate rotation", session="s2").text == ""


def test_what_was_rejected_a_moment_ago_is_not_served(
    make: Make, sqlite_db: Db, repo: Path, searcher: Callable[[], Searcher]
) -> None:
    """The index has not heard of the rejection; the store has."""
    one = entry("Redis is fast enough for the queue")
    own(sqlite_db, repo, one)
    assembler = make(searcher=searcher())
    assert "fast enough" in assembler.assemble(cwd=str(repo), query="is redis fast enough for the queue").text
    with sqlite_db.write() as tx:
        tx.run("UPDATE entry SET status = 'rejected' WHERE id = :id", id=one.id)
    assert assembler.assemble(cwd=str(repo), query="is redis fast enough for the queue").text == ""


def test_many_threads_share_one_assembler(make: Make, sqlite_db: Db, repo: Path) -> None:
    """Briefings made at the same time are equal and complete."""
    own(sqlite_db, repo, *(entry(f"Rule {n} of the house") for n in range(20)))
    assembler = make()
    expected = assembler.assemble(cwd=str(repo)).text
    texts: list[str] = []
    threads = [threading.Thread(target=lambda: texts.append(assembler.assemble(cwd=str(repo)).text)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert texts == [expected] * 8 and "Rule 19" in expected
