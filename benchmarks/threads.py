"""Threads: which sessions are tied together, against labels; and what one more session costs among thousands."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import percent, read_lines
from benchmarks.corpora.threads import Labelled, day, labelled, rows_of

ORDERS: Final = 4
"""Orders of arrival that are tried besides that of the days."""

THREADS: Final = 3000
"""Threads among which one more session is placed, when timed."""

PROBES: Final = 30

Partition = dict[str, str]
"""Session → thread."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Pair precision and recall on both halves, in order of the days and in others; what placing one session takes.

    Two sessions are a right pair when they have one topic, and a found pair when they are in one thread. The first
    floor is a thread for every file that is shared; the second, for time, a loop over all threads in plain Python.
    ``data``: DevMemBench; sessions that answer one question together, as found pairs, in percent of all such pairs.
    ``n``: threads of the timing.
    """
    sessions = labelled()
    results: dict[str, float] = {}
    floor: dict[str, float] = {}
    for half, chosen in (("tuning", True), ("held_out", False)):
        some = [one for one in sessions if one.tuning is chosen]
        tied = _tied(some)
        scored = _scored(some, tied)
        results |= {f"{half}_{name}": value for name, value in scored.items()}
        small = [one for one in some if one.project != "large"]
        scored = _scored(small, tied)
        results |= {
            f"{half}_small_{name}": scored[name] for name in ("right_pairs", "found_pairs", "precision", "recall")
        }
        shuffled = [_scored(some, _tied(_shuffled(some, seed))) for seed in range(ORDERS)]
        for name in ("precision", "recall"):
            results[f"{half}_{name}_worst_order"] = min(one[name] for one in shuffled)
        floor |= {f"{half}_{name}": value for name, value in _scored(some, _by_files(some)).items()}
    results |= _timed(n or THREADS, floor)
    if data is not None:
        results |= _devmembench(data)
    return {"results": results, "floor": floor, "n": len(sessions)}


def _tied(sessions: Sequence[Labelled]) -> Partition:
    """The partition that the product makes of sessions that come one after the other, in each project."""
    found: Partition = {}
    for project in dict.fromkeys(one.project for one in sessions):
        some = [one for one in sessions if one.project == project]
        found |= {name: f"{project}/{thread}" for name, thread in _tied_in_one(some).items()}
    return found


def _tied_in_one(sessions: Sequence[Labelled]) -> Partition:
    with tempfile.TemporaryDirectory(prefix="flywheel-threads-") as folder:
        store = _Store(Path(folder))
        try:
            for one in sessions:
                store.take(one.name, one.agent, day(one.day), one.turns)
            return store.partition()
        finally:
            store.close()


class _Store:
    """A store with one project, to which sessions come one by one."""

    def __init__(self, folder: Path) -> None:
        from flywheel.app import open_parts, wall_clock
        from flywheel.config import Config, locate
        from flywheel.projects import queries as projects

        self._parts = open_parts(Config(), locate({"FLYWHEEL_HOME": str(folder)}, folder), {}, folder)
        (folder / "shop").mkdir()
        self.project = projects.resolve(self._parts.db, str(folder / "shop"), wall_clock()).id
        self._names: dict[str, str] = {}

    def take(self, name: str, agent: str, at: int, turns: Sequence[tuple[str, str]]) -> float:
        """Store a session and tie it; the seconds that the job took."""
        from flywheel.model import Job, Micros
        from flywheel.store.mapper import insert_many, upsert
        from flywheel.threads import worker

        session, messages, back = rows_of(name, agent, at, turns, self.project)
        self._names[session.id] = name
        with self._parts.db.write() as tx:
            upsert(tx, session)
            insert_many(tx, messages)
            upsert(tx, back)
        zero = Micros(0)
        job = Job(id="", kind=worker.KIND, key=self.project, project_id=None, run_after=zero, created_at=zero,
                  updated_at=zero)  # fmt: skip
        began = time.perf_counter()
        worker.run(job, self._parts.deps(lambda: False, lambda doing: None))
        return time.perf_counter() - began

    def partition(self) -> Partition:
        """Each session with the thread of its first segment."""
        with self._parts.db.read() as tx:
            rows = tx.all("SELECT session_id, thread_id FROM thread_segment ORDER BY session_id, ordinal DESC")
        return {self._names[session]: thread for session, thread in rows}

    def fill(self, count: int) -> None:
        """Threads about made-up things, straight into the store."""
        from flywheel.model import Micros, Thread
        from flywheel.store.mapper import insert_many
        from flywheel.threads.rules import model_name
        from flywheel.threads.topics import packed, topic_of

        embedder = self._parts.embedder()[0]
        model = model_name(embedder.model_id if embedder is not None else None)
        with self._parts.db.write() as tx:
            insert_many(
                tx,
                [
                    Thread(
                        id=f"{number:032x}",
                        project_id=self.project,
                        model=model,
                        segments=1,
                        vector=packed(topic.vector),
                        words=topic.words,
                        first_at=Micros(number),
                        last_at=Micros(number),
                        created_at=Micros(number),
                    )
                    for number, topic in enumerate(topic_of([_turn(number)], embedder) for number in range(count))
                ],
            )

    def close(self) -> None:
        """Close the store."""
        self._parts.close()


def _turn(number: int) -> Any:
    """A prompt of words that no other has, and some that all have."""
    from flywheel.model import Clean
    from flywheel.threads.topics import Turn

    dice = random.Random(number)
    words = ["".join(dice.choice("bcdfghklmnprstvw") + dice.choice("aeiou") for _ in range(3)) for _ in range(30)]
    text = Clean(f"Please fix the {' '.join(words)} in the test.")
    return Turn(start=0, stop=0, first_at=0, last_at=0, id=str(number), prompt=text, files=(f"src/{words[0]}.py",))


def _shuffled(sessions: Sequence[Labelled], seed: int) -> list[Labelled]:
    mixed = list(sessions)
    random.Random(seed).shuffle(mixed)
    return mixed


def _by_files(sessions: Sequence[Labelled]) -> Partition:
    """Sessions that share a file, directly or by way of others, are one."""
    group = {one.name: one.name for one in sessions}
    owner: dict[str, str] = {}
    for one in sessions:
        for mark, text in one.turns:
            for file in text.split() if mark == "@" else ():
                first = owner.setdefault(f"{one.project}/{file}", one.name)
                old, new = group[one.name], group[first]
                group = {name: new if held == old else held for name, held in group.items()}
    return group


def _scored(sessions: Sequence[Labelled], threads: Partition) -> dict[str, float]:
    found = right = both = near = 0
    pairs = [pair for pair in combinations(sessions, 2) if pair[0].project == pair[1].project]
    for one, two in pairs:
        tied = one.name in threads and threads.get(one.name) == threads.get(two.name)
        same = one.topic == two.topic
        found += tied
        right += same
        both += tied and same
        near += tied and not same and one.family == two.family
    return {
        "pairs": len(pairs),
        "right_pairs": right,
        "found_pairs": found,
        "near_misses_found": near,
        "precision": round(100 * both / found, 1) if found else 0.0,
        "recall": round(100 * both / right, 1) if right else 0.0,
    }


def _timed(count: int, floor: dict[str, float]) -> dict[str, float]:
    """Milliseconds of the job for one more session among so many threads, and of its comparison alone."""
    from flywheel.threads.rules import Rarity, Shelf, alike

    with tempfile.TemporaryDirectory(prefix="flywheel-threads-") as folder:
        store = _Store(Path(folder))
        store.fill(count)
        sessions = labelled()[:PROBES]
        whole = sorted(store.take(one.name, one.agent, day(one.day), one.turns) for one in sessions)
        topics = [_topic(_turn(number), store) for number in range(count)]
        store.close()
    rarity = Rarity()
    for topic in topics:
        rarity.learn(topic)
    shelf = Shelf(rarity, 256)
    for topic in topics:
        shelf.put(topic)
    asked = topics[:5]
    compared = _milliseconds(lambda: [shelf.likenesses(one) for one in asked]) / len(asked)
    floor["compare_ms"] = round(_milliseconds(lambda: [alike(asked[0], one, rarity) for one in topics]), 2)
    print(f"{count} threads: job {1000 * whole[len(whole) // 2]:.1f} ms", file=sys.stderr)
    return {
        "threads": count,
        "job_ms_p50": round(1000 * whole[len(whole) // 2], 1),
        "compare_ms": round(compared, 2),
        "compare_ratio": round(floor["compare_ms"] / compared, 1),
    }


def _topic(turn: Any, store: _Store) -> Any:
    from flywheel.threads.topics import topic_of

    return topic_of([turn], store._parts.embedder()[0])


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def _devmembench(data: Path) -> dict[str, float]:
    """How many pairs of sessions that answer one question are in one thread, and how many of the found are such."""
    sessions = {one["session"]: one for one in read_lines(data / "sessions.jsonl")}
    project = {name: one["project"] for name, one in sessions.items()}
    pairs = {
        pair
        for question in read_lines(data / "questions.jsonl")
        for pair in combinations(sorted(question["gold_sessions"]), 2)
        if len(question["gold_sessions"]) <= 3 and project[pair[0]] == project[pair[1]]
    }
    threads: Partition = {}
    for name in sorted(set(project.values())):
        some = [one for one in sessions.values() if one["project"] == name]
        own = [
            Labelled(
                name=one["session"],
                family=0,
                topic="",
                day=number,
                agent="claude",
                turns=[(">" if said["role"] == "user" else "<", said["content"]) for said in one["messages"]],
            )
            for number, one in enumerate(sorted(some, key=lambda one: one["date"]))
        ]
        threads |= {session: f"{name}/{thread}" for session, thread in _tied(own).items()}
    found = {pair for pair in combinations(sorted(threads), 2) if threads[pair[0]] == threads[pair[1]]}
    return {
        "devmembench_pairs": len(pairs),
        "devmembench_found_pairs": len(found),
        "devmembench_found": percent([float(pair in found) for pair in pairs]),
        "devmembench_threads": len(set(threads.values())),
        "devmembench_right_of_found": percent([float(pair in pairs) for pair in found]),
    }
