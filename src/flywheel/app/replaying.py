"""The process of a replay: ``python -m flywheel.app.replaying``, started by `app.replays` only.

It is told what to do in one line of JSON, and says in lines of JSON how far it is. "stop" ends it with what it has;
the end of its input means that whoever asked is gone, and ends it as well, at once if need be.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

import orjson
import structlog

from flywheel.app.parts import Parts, open_parts
from flywheel.config import Config, Places, parse_config
from flywheel.errors import FlywheelError
from flywheel.model import ProjectId
from flywheel.replay.running import Wanted, chosen, replay

GRACE: Final = 20.0
"""Seconds in which it may put its folder away when whoever asked is gone."""

OFTEN: Final = 0.2
"""Seconds between two words on what it is doing, at least."""


class _Talk:
    """What is said and heard."""

    def __init__(self, heard: IO[bytes], said: IO[bytes]) -> None:
        self._heard, self._said = heard, said
        self._told = 0.0
        self.stopping = threading.Event()

    def listen(self) -> None:
        """Until the end of the input, which is ours."""
        for line in self._heard:
            if line.strip() == b"stop":
                self.stopping.set()
        self.stopping.set()
        time.sleep(GRACE)
        os._exit(0)

    def say(self, **what: object) -> None:
        """One line."""
        self._said.write(orjson.dumps(what) + b"\n")
        self._said.flush()

    def beat(self, doing: str) -> None:
        """What it is doing, now and then."""
        if time.monotonic() - self._told > OFTEN:
            self._told = time.monotonic()
            self.say(doing=doing)


def main() -> None:
    """Replay under each of the configurations that are asked for, one after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for whoever asked, who says what comes of it
    os.nice(19 - os.nice(0))
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    heard = os.fdopen(0, "rb", buffering=0, closefd=False)
    setup: Mapping[str, Any] = orjson.loads(heard.readline())
    talk = _Talk(heard, sys.stdout.buffer)
    threading.Thread(target=talk.listen, daemon=True).start()
    try:
        _run(setup, talk)
    except FlywheelError as error:
        talk.say(error=error.message)


def _run(setup: Mapping[str, Any], talk: _Talk) -> None:
    end = time.monotonic() + float(setup["seconds"])
    places = Places(**{name: Path(path) for name, path in setup["places"].items()})
    configs: Sequence[Config] = [parse_config(table) for table in setup["configs"]]
    wanted = Wanted(projects=[ProjectId(id) for id in setup["projects"]], agent=setup["agent"], last=int(setup["last"]))
    parts = open_parts(configs[0], places, setup["env"], Path(setup["home"]))
    try:
        talk.say(total=len(chosen(parts.db, wanted)[1]) * len(configs))
        whole = all(_replay(parts, number, config, wanted, talk, end) for number, config in enumerate(configs))
        talk.say(finished=True, stopped=not whole)
    finally:
        parts.close()


def _replay(parts: Parts, number: int, config: Config, wanted: Wanted, talk: _Talk, end: float) -> bool:
    """Whether it came to its end."""
    stopped = False

    def stopping() -> bool:
        nonlocal stopped
        stopped = talk.stopping.is_set() or time.monotonic() > end
        return stopped

    embedder = Parts(
        config=config, places=parts.places, env=parts.env, home=parts.home, db=parts.db, redact=parts.redact
    ).embedder()[0]
    for session in replay(parts.db, config, embedder, wanted, beat=talk.beat, stopping=stopping):
        talk.say(run=number, session=session)
    return not stopped


if __name__ == "__main__":
    main()
