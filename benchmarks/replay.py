"""Replaying past sessions: the demo's, a longer made-up history's, and those of a folder; twice, to see that nothing
differs."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.corpora import history

SESSIONS: Final = 200
"""Sessions that are scored, the last ones."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The demo's sessions, those of `corpora/history.txt`, and with ``data`` the last ``n`` (200 unless given) there.

    Of each: ``scores``, needs that the briefings told out of those that the session had, in the order of time;
    ``told``, the same over all, in percent, and ``of_met`` of the ``met`` ones, which had come up before; ``early``
    and ``late``, of the halves of the sessions that needed anything, ``quarters``, of their quarters; ``same``, whether
    a second replay came to the same bytes; ``seconds`` of one session. Floor: what the newest messages before a session
    hold, packed into as many tokens as its briefings took.
    """
    from flywheel.cli.demo import demo_folder

    results: dict[str, Any] = {}
    floor: dict[str, Any] = {}
    count = 0
    with tempfile.TemporaryDirectory(prefix="flywheel-replayed-") as folder:
        past = Path(folder) / "history"
        past.mkdir()
        history.write(past)
        sets = {"demo": Path(demo_folder(Path(folder))[1]), "history": past}
        sets |= {"transcripts": data} if data else {}
        for name, root in sets.items():
            home = Path(folder) / f"store-{name}"
            home.mkdir()
            found = _measure(root, home, n or SESSIONS)
            count += found["sessions"]
            floor[f"{name}_told"] = found.pop("plain")
            results |= {f"{name}_{key}": value for key, value in found.items()}
    return {"results": results, "floor": floor, "n": count}


def _measure(root: Path, home: Path, last: int) -> dict[str, Any]:
    from flywheel import app
    from flywheel.codec import encode
    from flywheel.config import Config, locate
    from flywheel.replay.running import Wanted, replay
    from flywheel.replay.summing import sum_up

    parts = app.open_parts(Config(), locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)
    try:
        _import(parts, sorted({root, *root.glob("*/dot-*")}))
        embedder = parts.embedder()[0]
        began = time.monotonic()
        first, again = (list(replay(parts.db, parts.config, embedder, Wanted(last=last))) for _ in range(2))
        spent = time.monotonic() - began
    finally:
        parts.close()
    run = sum_up((), first)
    needy = [one for one in first if one.needed]
    parts_of = [sum_up((), needy[at * len(needy) // 4 : (at + 1) * len(needy) // 4]).share for at in range(4)]
    return {
        "sessions": len(first),
        "needs": sum(one.needed for one in first),
        "scores": [f"{one.told}/{one.needed}" for one in first if one.needed],
        "told": _percent(run.share),
        "of_met": _percent(run.met),
        "met": sum(one.met for one in first),
        "plain": _percent(run.plain),
        "quarters": [_percent(one) for one in parts_of],
        "early": _percent(run.early),
        "late": _percent(run.late),
        "tokens": round(sum(one.tokens for one in first) / max(len(first), 1)),
        "same": [encode(one) for one in first] == [encode(one) for one in again],
        "seconds": round(spent / max(2 * len(first), 1), 3),
    }


def _import(parts: Any, roots: Sequence[Path]) -> None:
    """Harvest what lies there; what follows from it is the replay's own."""
    from flywheel import app
    from flywheel.harvest.discover import locate, sweep
    from flywheel.harvest.worker import KIND
    from flywheel.jobs import queue
    from flywheel.jobs.worker import run_one

    for root in roots:
        sweep(parts.db, locate(str(root)), app.wall_clock())
    deps = parts.deps(lambda: False, lambda doing: None)
    handler = app.handler_of(KIND, parts)
    while job := queue.claim(parts.db, kinds=[KIND], owner="benchmark", lease=600.0):
        run_one(job, handler, deps)
    with parts.db.read() as tx:
        (count,) = tx.one("SELECT COUNT(*) FROM message") or (0,)
    print(f"{count} messages imported", file=sys.stderr)


def _percent(part: float | None) -> float | None:
    return None if part is None else round(100 * part, 1)
