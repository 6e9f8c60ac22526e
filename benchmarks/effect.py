"""`effect` over many sessions, and following one long session with many items. Floors: reading the rows; the words.

Sessions lie within half a year, found ten things out each (of 2,000 files, a few of which many find) and were told of
some. The long session has 200 items of twelve words, a file and a command each; one message in five is a reply.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.render import memory
from benchmarks.transcripts import vocabulary
from flywheel.harvest.rules.topic import stems
from flywheel.model import (
    Attribution,
    Clean,
    Course,
    Discovery,
    Message,
    MessageId,
    MessageKind,
    Micros,
    ProjectId,
    Role,
    SessionId,
)
from flywheel.retro.attribution.items import item_of
from flywheel.retro.attribution.journey import FILE, Journey
from flywheel.retro.attribution.watching import TOUCHED, Watch
from flywheel.retro.effect import effect_of
from flywheel.store import Db
from flywheel.store.connect import connect
from flywheel.store.discoveries import settle
from flywheel.store.mapper import columns, insert_many
from flywheel.text.tokens import count as tokens_in

SESSIONS: Final = 10_000
"""Sessions of the bar."""

FOUND: Final = 10
"""Things that each found out or was told."""

ITEMS: Final = 200
MESSAGES: Final = 100_000
"""Of the long session, at the bar's number of sessions; in proportion else."""

ROUNDS: Final = 20

_DAY: Final = 86_400_000_000
_NOW: Final = Micros(1_900_000_000_000_000)
_HALF_A_YEAR: Final = 182 * _DAY
_PROJECTS: Final = [ProjectId(f"p{number}") for number in range(5)]
_AGENTS: Final = ("claude", "codex", "gemini")


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Ask for the effect of ``n`` sessions (`SESSIONS` unless given), of all projects and of one.

    ``ms``, ``ms_p95`` of all projects, ``one_ms`` of one, ``cpu_ms`` of the processor; ``follow_s`` processor time of
    following the long session with `ITEMS` items, ``follow_one_s`` with one, ``peak_mb`` (10^6 bytes that it added).
    """
    size = n or SESSIONS
    chance = random.Random(8)
    with tempfile.TemporaryDirectory(prefix="flywheel-effect-", dir=data) as folder:
        db = connect("sqlite", Path(folder))
        found = _plant(db, chance, size)
        print(f"{size} sessions", file=sys.stderr)
        everywhere = _timed(lambda: _ask(db, []))
        one = _timed(lambda: _ask(db, _PROJECTS[:1]))
        cpu = _timed(lambda: _ask(db, []), time.thread_time)
        floor = _timed(lambda: _rows(db))
        db.close()
    messages = MESSAGES * size // SESSIONS
    before = memory()
    many, words = _follow(chance, messages, ITEMS)
    peak = memory() - before
    single, _ = _follow(random.Random(9), messages, 1)
    return {
        "results": {
            "ms": round(statistics.median(everywhere), 1),
            "ms_p95": round(everywhere[int(len(everywhere) * 0.95)], 1),
            "cpu_ms": round(statistics.median(cpu), 1),
            "one_ms": round(statistics.median(one), 1),
            "follow_s": round(many, 2),
            "follow_one_s": round(single, 2),
            "peak_mb": round(peak, 1),
        },
        "floor": {"ms": round(statistics.median(floor), 1), "follow_s": round(words, 2)},
        "n": {"sessions": size, "discoveries": found, "messages": messages, "items": ITEMS, "rounds": ROUNDS},
    }


def _ask(db: Db, family: list[ProjectId]) -> None:
    with db.read() as tx:
        found = effect_of(tx, family, name="", agent="", since=Micros(_NOW - _HALF_A_YEAR), until=_NOW)
    assert found.total.sessions and found.total.avoided


def _rows(db: Db) -> None:
    with db.read() as tx:
        tx.all(f"SELECT {columns(Course)} FROM course")


def _timed(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Milliseconds of each round, sorted."""
    took = []
    for _ in range(ROUNDS):
        began = clock()
        act()
        took.append((clock() - began) * 1000)
    return sorted(took)


# ---- the store


def _plant(db: Db, chance: random.Random, size: int) -> int:
    """Sessions with all that `effect` reads; how many discoveries they have."""
    found = 0
    for start in range(0, size, 500):
        some = [_session(chance, number, size) for number in range(start, min(start + 500, size))]
        with db.write() as tx:
            insert_many(tx, [course for course, _, _ in some])
            insert_many(tx, [row for _, rows, _ in some for row in rows])
            insert_many(tx, [sign for _, _, signs in some for sign in signs])
            settle(tx, {(row.project_id, row.kind, row.name) for _, rows, _ in some for row in rows})
        found += sum(len(rows) for _, rows, _ in some)
    return found


def _session(chance: random.Random, number: int, size: int) -> tuple[Course, list[Discovery], list[Attribution]]:
    project, agent = _PROJECTS[number % len(_PROJECTS)], _AGENTS[number % len(_AGENTS)]
    id, at = SessionId(f"s{number}"), Micros(_NOW - _HALF_A_YEAR + number * _HALF_A_YEAR // size)
    shown = chance.randrange(4, 30) if chance.random() < 0.7 else 0
    used = chance.randrange(0, shown // 3 + 1)
    edits = chance.random() < 0.8
    course = Course(
        session_id=id, project_id=project, agent=agent, started_at=at, tokens=40_000, calls=60,
        edit_tokens=chance.randrange(500, 30_000) if edits else None,
        edit_calls=chance.randrange(40) if edits else None,
        injected=shown, injected_tokens=90 * shown, shown=shown, used=used, irrelevant=shown // 3, repeated=0, wrong=0,
    )  # fmt: skip
    names = {f"src/part{int(chance.paretovariate(0.5)) % 2000}.py" for _ in range(FOUND)}
    rows = [
        Discovery(
            session_id=id, kind=FILE, name=Clean(name), project_id=project, told=bool(shown) and chance.random() < 0.3,
            tokens=chance.randrange(100, 3000), calls=2, again=True, message_id=MessageId(f"m{number}"), created_at=at,
        )
        for name in sorted(names)
    ]  # fmt: skip
    signs = [
        Attribution(
            session_id=id, item_id=f"i{item}", signal=TOUCHED, project_id=project, item_kind="entry", native_session=id,
            agent=agent, message_id=MessageId(f"m{number}"), created_at=at,
        )
        for item in range(used)
    ]  # fmt: skip
    return course, rows, signs


# ---- the long session


def _follow(chance: random.Random, messages: int, items: int) -> tuple[float, float]:
    """Seconds of the processor for following a session, and for the stems of its replies alone."""
    words = vocabulary(chance)
    told = [
        item_of(
            id=f"{number:032x}", kind="entry", at=Micros(0), short=f"{number:06x}",
            text=f"{' '.join(chance.sample(words, 12))} `make part{number}`", files=[f"src/part{number}.py"],
            symbols=[f"Part{number}.renew_lease"],
        )
        for number in range(items)
    ]  # fmt: skip
    watch, journey = Watch(told, ["/p"]), Journey(roots=["/p"])
    spent = stemming = 0.0
    for message in _talk(chance, words, messages):
        tokens = int(tokens_in(message.text))
        began = time.process_time()
        journey.hear(message, tokens)
        watch.hear(message)
        spent += time.process_time() - began
        if message.kind is MessageKind.REPLY:
            began = time.process_time()
            stems.__wrapped__(message.text)
            stemming += time.process_time() - began
    return spent, stemming


def _talk(chance: random.Random, words: list[str], many: int) -> Iterator[Message]:
    kinds = (MessageKind.REPLY, MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT, MessageKind.TOOL_CALL,
             MessageKind.TOOL_RESULT)  # fmt: skip
    for number in range(many):
        kind = MessageKind.PROMPT if number % 50 == 0 else kinds[number % 5]
        text = " ".join(chance.choices(words, k=60))
        meta: dict[str, object] = {}
        if kind is MessageKind.TOOL_CALL:
            meta = {"command": f"sed -n 1,9p src/part{chance.randrange(3000)}.py && make part{chance.randrange(3000)}"}
        yield Message(
            id=MessageId(f"m{number}"), project_id=_PROJECTS[0], session_id=SessionId("long"), ordinal=number,
            role=Role.USER if kind is MessageKind.PROMPT else Role.ASSISTANT, kind=kind, text=Clean(text),
            tool=Clean("Bash"), call_id=f"c{number // 2}", meta=meta, created_at=Micros(number), sha256="",
        )  # fmt: skip
