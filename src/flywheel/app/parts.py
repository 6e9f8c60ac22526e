"""What every process of Flywheel is made of: the store, the settings, and what is built from them."""

from __future__ import annotations

import os
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
    from flywheel.embed.metering import Meter
    from flywheel.harvest.discover import Whereabouts
    from flywheel.llm import Llm, Purpose


def _worker(module: str) -> Handler:
    """The ``run`` of a worker's module, imported when the first job comes."""

    def run(job: Job, deps: Deps) -> None:
        import_module(module).run(job, deps)

    return run


HARVEST: Final = "harvest"
EXTRACT: Final = "extract"
EXTRACT_MODEL: Final = "extract_model"
EXTRACT_BATCH: Final = "extract_batch"
RETRO: Final = "retro"
RETRO_MODEL: Final = "retro_model"
SYNC: Final = "sync"
WEIGH: Final = "weigh"
DOCUMENT: Final = "document"
RENDER: Final = "render"
COMMIT: Final = "commit"
LINT: Final = "lint"
QUESTIONS: Final = "questions"
ANCHORS: Final = "anchors"
ACROSS: Final = "across"
OBSERVE: Final = "observe"
DIGEST: Final = "digest"
GATHER: Final = "gather"
GATHER_MODEL: Final = "gather_model"
THREAD: Final = "thread"
CONSOLIDATE: Final = "consolidate"
CATCH_UP: Final = "catch_up"
"""Job kinds, as the workers' modules call themselves (``KIND``)."""

WORKERS: Final[Mapping[str, Handler]] = {
    HARVEST: _worker("flywheel.harvest.worker"),
    EXTRACT: _worker("flywheel.harvest.extract"),
    EXTRACT_MODEL: _worker("flywheel.harvest.models.worker"),
    EXTRACT_BATCH: _worker("flywheel.harvest.models.batching"),
    RETRO: _worker("flywheel.retro.worker"),
    RETRO_MODEL: _worker("flywheel.retro.paragraph"),
    DIGEST: _worker("flywheel.digests.worker"),
    GATHER: _worker("flywheel.digests.gather"),
    GATHER_MODEL: _worker("flywheel.digests.paragraph"),
    THREAD: _worker("flywheel.threads.worker"),
    OBSERVE: _worker("flywheel.behaviour.watching"),
    CONSOLIDATE: _worker("flywheel.behaviour.worker"),
    CATCH_UP: _worker("flywheel.app.catching_up"),
    SYNC: _worker("flywheel.codemap.worker"),
    WEIGH: _worker("flywheel.codemap.weighing"),
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
    "harvest": (
        HARVEST,
        EXTRACT,
        RETRO,
        DOCUMENT,
        ACROSS,
        OBSERVE,
        CONSOLIDATE,
        DIGEST,
        GATHER,
        THREAD,
        CATCH_UP,
    ),
    "model": (EXTRACT_MODEL, EXTRACT_BATCH, RETRO_MODEL, GATHER_MODEL),
    "code": (SYNC, ANCHORS, WEIGH),
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
    _llm: Llm | None = field(default=None)
    _models: dict[str, Embedder] = field(default_factory=dict)

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
            llm=self.llm,
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
        """This machine's embedder of the configuration, loaded once, and its id; or None and why there is none.

        For what is compared with what jobs embedded. Searches ask `serving`.
        """
        if self._embedder is None:
            self._embedder = self._load_embedder()
        return self._embedder

    def _load_embedder(self) -> tuple[Embedder | None, str]:
        from flywheel.embed import ModelMissing
        from flywheel.embed.select import open_embedder

        try:
            name = self.config.embed.model  # opened as a worker of the harvest lane opens it, who has no server to ask
            found = self.open_model(name) if name == "static" else open_embedder(name)
            return found, found.model_id
        except ModelMissing as error:
            return None, f"none, full text only: {error.message}"

    def open_model(self, name: str) -> Embedder:
        """The embedding model of that name, loaded once. Raises ModelMissing."""
        from flywheel.embed.select import open_embedder

        if name not in self._models:
            self._models[name] = open_embedder(
                name,
                self.config.embed,
                env=self.env,
                redact=self.redact.text,
                offline=self.config.offline,
                meter=self.meter_of,
            )
        return self._models[name]

    def meter_of(self, name: str) -> Meter:
        """Who accounts for the requests to a server's embedding model."""
        from flywheel.embed.remote import WIRES
        from flywheel.llm import Purpose

        kind, _, model = name.partition(":")
        embed = self.config.embed
        return self._meter(Purpose.EMBED, kind, model, embed.url or WIRES[kind].url, embed.usd)

    def meter_of_reranker(self) -> Meter:
        """Who accounts for the requests to the reranker."""
        from flywheel.llm import Purpose

        search = self.config.search
        model = search.rerank.partition(":")[2] or "reranker"
        return self._meter(Purpose.RERANK, "http", model, search.rerank_url, search.rerank_usd)

    def _meter(self, purpose: Purpose, provider: str, model: str, url: str, usd: float) -> Meter:
        from flywheel.llm.metering import LedgerMeter
        from flywheel.llm.pricing import is_own, load_prices

        price = load_prices().of_vectors(model, own=is_own(url), given=usd)
        return LedgerMeter(self.db, self.config.llm, purpose=purpose, provider=provider, price=price, now=wall_clock)

    def serving(self) -> tuple[Embedder | None, str]:
        """The embedder whose vectors are searched (of the choice, else of the configuration), and its name; or None
        and why there is none."""
        from flywheel.embed import ModelMissing
        from flywheel.search.choice import read_choice

        with self.db.read() as tx:
            choice = read_choice(tx)
        name = choice.serving if choice is not None and self.config.embed.model != "none" else self.config.embed.model
        try:
            return self.open_model(name), name
        except ModelMissing as error:
            return None, f"none, full text only: {error.message}"

    def code_model(self) -> tuple[bool, str]:
        """Whether code has a model of its own here, and what to say of it: its id, or why there is none."""
        if self._code is None:
            self._code = _look_for_code_model(self.config.embed)
        return self._code

    def llm(self) -> Llm:
        """The language model within its budget, or what says that there is none. Raises ConfigError."""
        if self._llm is None:
            from flywheel.llm.select import open_llm

            self._llm = open_llm(self.config, self.env, db=self.db, data=self.data, redact=self.redact, now=wall_clock)
        return self._llm

    def close(self) -> None:
        """Close the store, and the connections to a model."""
        if self._llm is not None:
            self._llm.close()
        self.db.close()


def open_parts(config: Config, places: Places, env: Mapping[str, str], home: Path) -> Parts:
    """Open the store (which migrates it) and build the rest. Raises the store's errors and ConfigError."""
    places.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    if config.offline:  # a named embedding model is otherwise looked for on a hub, and fetched
        os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    redact = make_redactor(config)
    db = connect(config.store.url, places.data, busy=config.store.busy_seconds)
    return Parts(config=config, places=places, env=env, home=home, db=db, redact=redact)


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
