"""Parser processes: what they say of files, and that nothing that happens inside them reaches the outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flywheel.codemap.parser import Answer, Request, look, why_not
from flywheel.codemap.pool import ParserPool, cpu_seconds
from flywheel.errors import Unavailable

HOSTILE = """
import os, sys, time
from flywheel.codemap.parser import main, look
def work(request):
    text = open(request.file, "rb").read()
    if b"hang" in text:
        while True:
            pass
    if b"crash" in text:
        os.abort()
    return look(request)
main(work)
"""
COMMAND = (sys.executable, "-c", HOSTILE)


def ask(root: Path, name: str, known: str = "", max_bytes: int = 1 << 20) -> Request:
    """A request for a file below ``root``."""
    return Request(os.fsencode(root / name), name, "python", known, max_bytes)


def files(root: Path, **texts: str) -> list[Request]:
    """Write Python files and ask for them in this order."""
    for name, text in texts.items():
        (root / f"{name}.py").write_text(text)
    return [ask(root, f"{name}.py") for name in texts]


@pytest.fixture
def pool() -> Iterator[ParserPool]:
    """A pool of the real parser."""
    pool = ParserPool(2, 20.0)
    yield pool
    pool.close()


@pytest.fixture
def hostile() -> Iterator[ParserPool]:
    """A pool whose parser hangs or dies where the file says so; a file has one second."""
    pool = ParserPool(2, 1.0, COMMAND)
    yield pool
    pool.close()


def test_a_hanging_file_is_killed_and_the_others_go_on(tmp_path: Path, hostile: ParserPool) -> None:
    """Of thirty files two hang the parser: both are given up by the clock, all others are parsed."""
    requests = files(
        tmp_path, **{f"f{number}": "hang" if number in (3, 17) else "def f(): 1\n" for number in range(30)}
    )
    answers = {request.path: answer.state for request, answer in hostile.parse(requests)}
    assert len(answers) == 30
    assert {path for path, state in answers.items() if state == "timeout"} == {"f3.py", "f17.py"}
    assert set(answers.values()) == {"timeout", "indexed"}
    assert hostile.started >= 3
    again = [answer.state for _, answer in hostile.parse(requests[:3])]
    assert again == ["indexed"] * 3


def test_a_hung_process_is_really_gone(tmp_path: Path, hostile: ParserPool) -> None:
    """The process that span is not left behind, not even as a zombie."""
    hostile.warm()
    (pid,) = hostile.pids()
    list(hostile.parse(files(tmp_path, bad="hang")))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_crashing_file_costs_only_itself(tmp_path: Path, hostile: ParserPool) -> None:
    """A parser that aborts is replaced; its other requests are asked again."""
    requests = files(tmp_path, a="def a(): 1\n", bad="crash", b="def b(): 1\n", c="def c(): 1\n")
    answers = {request.path: answer.state for request, answer in hostile.parse(requests)}
    assert answers == {"a.py": "indexed", "bad.py": "crashed", "b.py": "indexed", "c.py": "indexed"}


def test_one_file_needs_one_process_and_many_need_all(tmp_path: Path, pool: ParserPool) -> None:
    """Processes are started on demand and kept for the next time."""
    requests = files(tmp_path, **{f"f{number}": f"def f{number}(): 1\n" for number in range(21)})
    assert pool.pids() == []
    list(pool.parse([]))
    list(pool.parse(requests[:1]))
    first = pool.pids()
    assert len(first) == 1
    list(pool.parse(requests))
    assert len(pool.pids()) == 2
    assert first[0] in pool.pids()
    list(pool.parse(requests[:2]))
    assert pool.started == 2


def test_very_long_paths_and_answers_block_nobody(tmp_path: Path, pool: ParserPool) -> None:
    """Requests that fill a pipe meet answers that fill another: neither side waits for the other for ever."""
    (tmp_path / "wide.py").write_text("".join(f"def f{number}(): return {number}\n" for number in range(3000)))
    file = os.fsencode(tmp_path) + b"/." * 1900 + b"/wide.py"
    requests = [Request(file, "x/" * 1900 + f"{number}.py", "python", "", 1 << 20) for number in range(40)]
    assert {answer.state for _, answer in pool.parse(requests)} == {"indexed"}


def test_giving_up_half_way_mixes_nothing_up(tmp_path: Path, pool: ParserPool) -> None:
    """Whoever stops listening gets none of the old answers the next time."""
    requests = files(tmp_path, **{f"f{number}": f"def f{number}(): 1\n" for number in range(40)})
    answers = pool.parse(requests)
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    ((request, answer),) = pool.parse(requests[7:8])
    assert (request.path, answer.definitions[0].name) == ("f7.py", "f7")


def test_a_parser_that_cannot_start_is_reported() -> None:
    """No endless restarting: the error names the command."""
    pool = ParserPool(2, 1.0, (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(Unavailable, match="does not start"):
        list(pool.parse([Request(b"/nowhere.py", "nowhere.py", "python", "", 1)]))
    pool.close()


def test_parsers_are_polite_and_die_with_their_parent(tmp_path: Path) -> None:
    """At nice 19; a parent that is killed, in the midst of a hanging file, takes them along."""
    (tmp_path / "bad.py").write_text("hang")
    script = (
        "import os, sys\n"
        "from flywheel.codemap.pool import ParserPool\n"
        "from flywheel.codemap.parser import Request\n"
        f"pool = ParserPool(1, 60.0, {COMMAND!r})\n"
        "pool.warm()\n"
        "print(pool.pids()[0], flush=True)\n"
        f"list(pool.parse([Request({os.fsencode(tmp_path / 'bad.py')!r}, 'bad.py', 'python', '', 99)]))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert _until(lambda: _running_hard(child), 20), "the parser never got to the hanging file"
    assert os.getpriority(os.PRIO_PROCESS, child) == 19
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert _until(lambda: not Path(f"/proc/{child}").exists(), 5), "the parser outlived its parent"


def _running_hard(pid: int) -> bool:
    """Whether the process is at its work: polite already, and burning time."""
    try:
        return os.getpriority(os.PRIO_PROCESS, pid) == 19 and (cpu_seconds(pid) or 0) > 0.3
    except OSError:
        return False


def _until(true: object, seconds: float) -> bool:
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():  # type: ignore[operator]
            return True
        os.sched_yield()
    return False


def test_known_content_is_not_parsed(tmp_path: Path) -> None:
    """The same bytes give "same" and nothing else, whatever the file's times say."""
    (request,) = files(tmp_path, a="def a(): 1\n")
    first = look(request)
    assert (first.state, first.lines, len(first.definitions)) == ("indexed", 1, 1)
    second = look(request._replace(known=first.sha256))
    assert second == Answer("same", first.sha256, first.size, first.mtime_ns, 1)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """Gone, forbidden, a folder, a pipe, a link, a giant: each has its state, none blocks."""
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "link.py").symlink_to("/etc/hostname")
    (tmp_path / "big.py").write_bytes(b"x" * 101)
    states = {name: look(ask(tmp_path, name, max_bytes=100)).state for name in (
        "gone.py", "folder.py", "pipe.py", "link.py", "big.py")}  # fmt: skip
    assert states == {
        "gone.py": "gone", "folder.py": "unreadable", "pipe.py": "unreadable", "link.py": "unreadable",
        "big.py": "huge",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "state"),
    [
        (b"x = 1\n\0", "binary"),
        (b"// Code generated by stringer; DO NOT EDIT.\n\npackage x\n", "generated"),
        (b"#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# @generated by a tool\n", "generated"),
        (b"/*\n * This file is auto-generated. Do not modify.\n */\n", "generated"),
        (b'HEADER = "generated! do not edit"\n', ""),
        (b"# Generated with love. Edit it.\n", ""),
        (b"x = 1\n" * 3000, ""),
        (b"a" * 6000, "minified"),
        (b"", ""),
    ],
)
def test_reasons_by_content(source: bytes, state: str) -> None:
    """Binary, generated and minified files are known by their bytes; mere talk about generating is not enough."""
    assert why_not(source, source.count(b"\n") or 1) == state
