"""What every process of Flywheel is made of: the store, the settings, and what is built from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flywheel.config import Config, EmbedConfig, Places
from flywheel.jobs import queue
from flywheel.jobs.worker import Deps, Handler
from flywheel.model import Job, Micros
from flywheel.store import Db
from flywheel.store.connect import connect
from flywheel.text.redact import Redactor

if TYPE_CHECKING:
    from flywheel.embed import Embedder
    from flywheel.harvest.discover import Whereabouts


def _worker(module: str) -> Handler:
    """The ``run`` of a worker's module, imported when the first job comes."""

    def run(job: Job, deps: Deps) -> None:
        import_module(module).run(job, deps)

    return run


HARVEST: Final = "harvest"
EXTRACT: Final = "extract"
RETRO: Final = "retro"
SYNC: Final = "sync"
DOCUMENT: Final = "document"
RENDER: Final = "render"
COMMIT: Final = "commit"
LINT: Final = "lint"
QUESTIONS: Final = "questions"
ANCHORS: Final = "anchors"
ACROSS: Final = "across"
OBSERVE: Final = "observe"
CONSOLIDATE: Final = "consolidate"
"""Job kinds, as the workers' modules call themselves (``KIND``)."""

WORKERS: Final[Mapping[str, Handler]] = {
    HARVEST: _worker("flywheel.harvest.worker"),
    EXTRACT: _worker("flywheel.harvest.extract"),
    RETRO: _worker("flywheel.retro.worker"),
    OBSERVE: _worker("flywheel.behaviour.watching"),
    CONSOLIDATE: _worker("flywheel.behaviour.worker"),
    SYNC: _worker("flywheel.codemap.worker"),
    ANCHORS: _worker("flywheel.knowledge.anchoring"),
    DOCUMENT: _worker("flywheel.knowledge.worker"),
    ACROSS: _worker("flywheel.knowledge.across.worker"),
    RENDER: _worker("flywheel.tree.worker"),
    COMMIT: _worker("flywheel.tree.committing"),
    LINT: _worker("flywheel.tree.linting.worker"),
    QUESTIONS: _worker("flywheel.app.questioning"),
}
"""Job kind → handler."""

LANES: Final[Mapping[str, tuple[str, ...]]] = {
    "harvest": (HARVEST, EXTRACT, RETRO, DOCUMENT, ACROSS, OBSERVE, CONSOLIDATE),
    "code": (SYNC, ANCHORS),
    "tree": (RENDER, COMMIT, LINT, QUESTIONS),
    "index": (),
}
"""Lane → the job kinds that its process runs; the index lane follows the change feed instead."""


def wall_clock() -> Micros:
    """Now."""
    return Micros(time.time_ns() // 1000)


def make_redactor(config: Config) -> Redactor:
    """The redactor with the user's patterns. Raises ConfigError for a pattern that is none."""
    return Redactor(config.redact.patterns, config.redact.allow)


@dataclass(slots=True, kw_only=True)
class Parts:
    """The parts of one process. ``env`` and ``home`` are the user's, for finding transcripts."""

    config: Config
    places: Places
    env: Mapping[str, str]
    home: Path
    db: Db
    redact: Redactor
    _embedder: tuple[Embedder | None, str] | None = field(default=None)
    _code: tuple[bool, str] | None = field(default=None)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.places.data

    def deps(self, stopping: Callable[[], bool], beat: Callable[[str], None]) -> Deps:
        """What a job's handler may use."""
        return Deps(
            db=self.db,
            config=self.config,
            data=self.data,
            redact=self.redact,
            now=wall_clock,
            stopping=stopping,
            beat=beat,
        )

    def whereabouts(self, *, checkouts: bool = True) -> Whereabouts:
        """Where this user's transcripts are; without ``checkouts`` the store and those folders are not looked at."""
        from flywheel.harvest import discover

        return discover.Whereabouts(
            home=str(self.home),
            env=self.env,
            more=self.config.harvest.roots,
            checkouts=discover.checkouts(self.db) if checkouts else (),
        )

    def embedder(self) -> tuple[Embedder | None, str]:
        """The embedder, loaded once, and what to say of it: its id, or why there is none."""
        if self._embedder is None:
            self._embedder = _load_embedder(self.config.embed.model)
        return self._embedder

    def code_model(self) -> tuple[bool, str]:
        """Whether code has a model of its own here, and what to say of it: its id, or why there is none."""
        if self._code is None:
            self._code = _look_for_code_model(self.config.embed)
        return self._code

    def close(self) -> None:
        """Close the store."""
        self.db.close()


def open_parts(config: Config, places: Places, env: Mapping[str, str], home: Path) -> Parts:
    """Open the store (which migrates it) and build the rest. Raises the store's errors and ConfigError."""
    places.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    redact = make_redactor(config)
    db = connect(config.store.url, places.data, busy=config.store.busy_seconds)
    return Parts(config=config, places=places, env=env, home=home, db=db, redact=redact)


def _load_embedder(model: str) -> tuple[Embedder | None, str]:
    from flywheel.embed import ModelMissing
    from flywheel.embed.select import open_embedder

    try:
        found = open_embedder(model)
        return found, found.model_id
    except ModelMissing as error:
        return None, f"none, full text only: {error.message}"


def _look_for_code_model(config: EmbedConfig) -> tuple[bool, str]:
    from flywheel.embed import ModelMissing

    if config.code == "none" or config.model == "none":
        return False, "none: switched off"
    if config.code != "minilm":
        return False, f'none: embed.code = {config.code!r} is neither "minilm" nor "none"'
    try:
        from flywheel.embed.minilm import MODEL_ID, model_file

        model_file()
        return True, MODEL_ID
    except ModelMissing as error:
        return False, f"none: {error.message}"


def seconds_to_next_job(parts: Parts) -> float:
    """Until the next job is due; a day when there is none."""
    kinds = [kind for lane in LANES.values() for kind in lane]
    now = parts.db.clock()
    with parts.db.read() as tx:
        due = queue.next_due(tx, kinds=kinds, now=now)
    return 86400.0 if due is None else (due - now) / 1e6
