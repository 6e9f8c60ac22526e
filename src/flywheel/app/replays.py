"""Replays under way: each in a process of its own, so that nobody who asks memory anything waits for it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Final

import orjson

from flywheel.api.replay import ReplayReport, ReplaySession
from flywheel.app.parts import Parts, wall_clock
from flywheel.codec import decode, encode
from flywheel.config import Config, parse_config
from flywheel.errors import BadInput, ConfigError, NotFound
from flywheel.model import ProjectId, new_id
from flywheel.replay.summing import sum_up

KEPT: Final = 8
"""Replays whose outcome is remembered."""

PATIENCE: Final = 5.0
"""Seconds that a process has to end when it is told to."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """One replay and what it has said so far."""

    id: str
    process: subprocess.Popen[bytes]
    settings: Sequence[Sequence[str]]
    began: float
    sessions: list[list[ReplaySession]]
    total: int = 0
    doing: str = ""
    finished: bool = False
    stopped: bool = False
    error: str = ""
    seconds: float = 0.0
    reader: threading.Thread | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, line: Mapping[str, Any]) -> None:
        """One line of the process's."""
        with self.lock:
            self.total = int(line.get("total", self.total))
            self.doing = str(line.get("doing", self.doing))
            self.error = str(line.get("error", self.error))
            self.stopped = bool(line.get("stopped", self.stopped))
            if "session" in line:
                found = decode(ReplaySession, orjson.dumps(line["session"]))
                self.sessions[int(line["run"])].append(found)

    def end(self, code: int) -> None:
        """The process is gone."""
        with self.lock:
            if code and not self.error and not self.stopped:
                self.error = f"the replay's process ended with code {code}"
            self.doing, self.finished = "", True
            self.seconds = time.monotonic() - self.began

    def report(self) -> ReplayReport:
        """How far it is."""
        with self.lock:
            return ReplayReport(
                id=self.id,
                total=self.total,
                done=sum(map(len, self.sessions)),
                doing=self.doing,
                finished=self.finished,
                stopped=self.stopped,
                seconds=self.seconds or time.monotonic() - self.began,
                error=self.error,
                runs=[sum_up(*one) for one in zip(self.settings, self.sessions, strict=True)],
            )


class Replays:
    """The replays of this process's life; one runs at a time. For any number of threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()

    def begin(
        self, projects: Sequence[ProjectId], *, agent: str, last: int, compare: Sequence[str], seconds: int
    ) -> ReplayReport:
        """Start one; what was still running is stopped. Raises BadInput for a setting that is none."""
        parts = self._parts
        configs = [parts.config, *([with_settings(parts.config, compare)] if compare else [])]
        setup = {
            "configs": [_table(config) for config in configs],
            "places": {name: str(path) for name, path in asdict(parts.places).items()},
            "env": dict(parts.env), "home": str(parts.home), "projects": list(projects), "agent": agent, "last": last,
            "seconds": seconds,
        }  # fmt: skip
        with self._lock:
            for one in self._runs.values():
                _end(one)
            run = _start([(), compare][: len(configs)], orjson.dumps(setup))
            self._runs[run.id] = run
            while len(self._runs) > KEPT:
                self._runs.pop(next(iter(self._runs)))
        return run.report()

    def progress(self, id: str, *, stop: bool) -> ReplayReport:
        """How far one is; with ``stop`` it is ended first. Raises NotFound."""
        with self._lock:
            run = self._runs.get(id)
        if run is None:
            raise NotFound(f"no replay has the id {id!r}; it may be from before the daemon's last start")
        if stop:
            _end(run)
        return run.report()

    def close(self) -> None:
        """End what runs."""
        with self._lock:
            for one in self._runs.values():
                _end(one)


def with_settings(config: Config, given: Sequence[str]) -> Config:
    """The configuration with other settings, each ``section.name=value``. Raises BadInput."""
    table = _table(config)
    for one in given:
        path, equals, value = one.partition("=")
        section, dot, name = path.strip().partition(".")
        if not equals or not dot or not isinstance(table.get(section), dict) or name not in table[section]:
            raise BadInput(
                f"{one!r} is no setting; write section.name=value, like context.budget=1000", field="compare"
            )
        try:
            table[section][name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            table[section][name] = value.strip()
    try:
        return parse_config(table, file="--with")
    except ConfigError as error:
        raise BadInput(error.message, field="compare") from error


def _table(config: Config) -> dict[str, Any]:
    """The configuration as its file's table would have it."""
    found: dict[str, Any] = orjson.loads(encode(config))
    return found


def _start(settings: Sequence[Sequence[str]], setup: bytes) -> _Run:
    command = [sys.executable, "-P", "-m", "flywheel.app.replaying"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, close_fds=True, cwd="/")
    assert process.stdin is not None and process.stdout is not None
    run = _Run(
        id=new_id(wall_clock()), process=process, settings=settings, began=time.monotonic(),
        sessions=[[] for _ in settings],
    )  # fmt: skip
    with contextlib.suppress(OSError):  # it died at once, which its reader tells
        process.stdin.write(setup + b"\n")
        process.stdin.flush()
    run.reader = threading.Thread(target=_listen, args=(run, process.stdout), name="replay", daemon=True)
    run.reader.start()
    return run


def _listen(run: _Run, stream: IO[bytes]) -> None:
    """What the process says, until it ends."""
    with stream:
        for line in stream:
            run.take(orjson.loads(line))
    run.end(run.process.wait())


def _end(run: _Run) -> None:
    """Ask the process to stop; kill it when it does not."""
    process = run.process
    assert process.stdin is not None
    if process.poll() is None:
        run.take({"stopped": True})
        with contextlib.suppress(OSError):
            process.stdin.write(b"stop\n")
            process.stdin.flush()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE)
    with contextlib.suppress(OSError):
        process.stdin.close()
    if run.reader is not None:
        run.reader.join(PATIENCE)
