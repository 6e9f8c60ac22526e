"""How soon changed code is searchable: one file, and a branch switch of two thousand files, through a real daemon."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.daemon import Running, running_daemon
from benchmarks.rename import _python
from benchmarks.talk import TALK

FILES: Final = 2000
EDITS: Final = 40
SWITCHES: Final = 3

SETTINGS: Final = '[embed]\nmodel = "none"\ncode = "none"\n'
"""Vectors come in the background and are not waited for."""

_PATIENCE: Final = 300.0
_STEP: Final = 0.01


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` edits of one file each, then three branch switches of 2,000 files, of copies of the packages in ``data``.

    ``one_ms`` (95th percentile; ``one_p50_ms`` the median): from a file being written to ``code --symbol`` finding the
    new definition; ``text_ms``: to full text finding it. ``branch_s`` (the slowest): from ``git checkout`` returning
    to the last new definition being found and the text index being up. All of them hold the 200 ms of quiet that are
    waited for. Floor: the question alone, and ``git checkout`` itself.
    """
    edits = n or EDITS
    with running_daemon(SETTINGS) as running:
        root = running.home / "app"
        files = _repository(data or Path(sysconfig.get_paths()["purelib"]), root)
        _notice(running, root)
        ones, texts, asked = [], [], []
        for number in range(edits):
            path, name = root / files[number * len(files) // edits], f"otter_number_{number}_came"
            start = time.perf_counter()
            with path.open("a") as file:
                file.write(f"\n\ndef {name}():\n    return {number}\n")
            ones.append(_until(partial(_knows, running, root, name), start))
            texts.append(_until(partial(_finds, running, root, name), start))
            before = time.perf_counter()
            _knows(running, root, name)
            asked.append(time.perf_counter() - before)
        print(f"edits: p95 {_p95(ones)} ms, in full text {_p95(texts)} ms", file=sys.stderr, flush=True)
        _git(root, "commit", "-qam", "edits")
        switches, checkouts = zip(*(_switch(running, root, files, number) for number in range(SWITCHES)), strict=True)
    return {
        "results": {
            "one_ms": _p95(ones), "one_p50_ms": round(1000 * statistics.median(ones), 1),
            "text_ms": _p95(texts), "text_p50_ms": round(1000 * statistics.median(texts), 1),
            "branch_s": round(max(switches), 2), "branch_p50_s": round(statistics.median(switches), 2),
        },
        "floor": {"ask_ms": _p95(asked), "git_s": round(max(checkouts), 2)},
        "n": {"edits": edits, "files": len(files), "switches": SWITCHES},
    }  # fmt: skip


def _p95(seconds: Sequence[float]) -> float:
    return round(1000 * statistics.quantiles(seconds, n=20)[-1], 1)


def _repository(packages: Path, root: Path) -> list[str]:
    """A git repository of `FILES` Python files; their paths."""
    found = [file for package in sorted(packages.iterdir()) if package.is_dir() for file in sorted(_python(package))]
    paths = []
    for file in found[:FILES]:
        copy = root / "src" / file.relative_to(packages)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        paths.append(str(copy.relative_to(root)))
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "begin")
    return paths


def _git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=B", "-c", "user.email=b@example.org", "-c", "commit.gpgsign=false", "-c", "gc.auto=0")
    subprocess.run(("git", "-C", str(root), *who, *words), check=True, capture_output=True)


def _notice(running: Running, root: Path) -> None:
    """Index the checkout, have a session in it, and wait until its files are watched."""
    running.client.sync(cwd=str(root))
    TALK["claude"](running.home, root, 0, "We look at the otters now")
    start = time.perf_counter()
    _settle(running)
    probe = root / "src" / "probe_of_the_watch.py"
    for number in range(200):
        probe.write_text(f"def probe_number_{number}(): pass\n")
        end = time.perf_counter() + 2
        while time.perf_counter() < end:
            if _knows(running, root, f"probe_number_{number}"):
                print(f"watched after {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
                _git(root, "add", "-A")
                _git(root, "commit", "-qm", "probe")
                return
            time.sleep(0.1)
    raise RuntimeError("the checkout is not watched")


def _behind(running: Running) -> bool:
    return any(running.client.status().behind.values())


def _knows(running: Running, root: Path, name: str) -> bool:
    return bool(running.client.code(symbol=name, cwd=str(root), limit=1).hits)


def _finds(running: Running, root: Path, name: str) -> bool:
    return any(name in hit.name for hit in running.client.code(query=name, cwd=str(root), limit=3).hits)


def _until(holds: Callable[[], bool], start: float) -> float:
    """Seconds from ``start`` until it holds."""
    while not holds():
        if time.perf_counter() - start > _PATIENCE:
            raise RuntimeError(f"nothing came in {_PATIENCE:.0f} s")
        time.sleep(_STEP)
    return time.perf_counter() - start


def _switch(running: Running, root: Path, files: Sequence[str], number: int) -> tuple[float, float]:
    """Seconds of one switch to a branch on which every file has a new definition, and of git's own part."""
    name = f"heron_number_{number}"
    _git(root, "checkout", "-q", "--detach", "main")
    tree = root.parent / f"tree{number}"
    _git(root, "worktree", "add", "-q", "-b", name, str(tree), "main")
    for at, path in enumerate(files):
        with (tree / path).open("a") as file:
            file.write(f"\n\ndef {name}_{at}():\n    return {at}\n")
    _git(tree, "commit", "-qam", name)
    _git(root, "worktree", "remove", "--force", str(tree))
    _settle(running)
    start = time.perf_counter()
    _git(root, "checkout", "-q", name)
    done = time.perf_counter()
    wanted = [f"{name}_{at}" for at in (*range(0, len(files), max(1, len(files) // 20)), len(files) - 1)]
    for one in wanted:
        _until(partial(_knows, running, root, one), done)
    took = _until(lambda: not _behind(running), done)
    print(f"switch {number}: git {done - start:.2f} s, then {took:.2f} s", file=sys.stderr, flush=True)
    return took, done - start


def _settle(running: Running) -> None:
    """Until nothing runs and the indexes are up, for two seconds. Some jobs wait for hours, and are not waited for."""
    quiet = 0
    while quiet < 20:
        quiet = 0 if running.client.status().jobs.get("running", 0) or _behind(running) else quiet + 1
        time.sleep(0.1)
