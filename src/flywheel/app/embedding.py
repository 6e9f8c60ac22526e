"""The embedding workers of the index lane: for the model that serves, and beside it for one that is to take over.

What is chosen stands in the store (`search.choice`), so that a process that dies goes on where it was. The new model
follows the feed from its beginning in short steps; when it has caught up it serves, and a little later the former
one's vectors go.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from typing import Final

import structlog

from flywheel.app.parts import Parts, wall_clock
from flywheel.embed import Embedder, EmbedderDown, ModelMismatch, ModelMissing
from flywheel.embed.minilm import MiniLM
from flywheel.index.follow import LIMIT, Follower, behind, step
from flywheel.index.vectors import VectorWriter
from flywheel.model import Kind
from flywheel.search.choice import GRACE, Choice, read_choice, write_choice
from flywheel.search.embedding import EmbeddingFollower
from flywheel.search.embedding_code import CodeFollower

THREADS: Final = 1
"""Threads that embed code: a second one hinders more than it helps where the machine is busy."""

AIM: Final = 0.4
"""Seconds that a step of an embedding worker should take: as long as the other indexes wait for theirs."""

FEWEST: Final = 8
"""Changes of such a step at least."""

log = structlog.get_logger("index")


class Worker:
    """One embedding follower with its pace. A model that does not answer rests, and nothing else waits for it."""

    def __init__(self, follower: Follower, first: int = LIMIT) -> None:
        self.follower = follower
        self.problem = ""
        self.rate = 0.0  # changes a second, lately
        self._limit = first
        self._rest = 0.0

    def step(self, parts: Parts) -> int:
        """One step, unless it rests; 0 when there is nothing to do."""
        if time.monotonic() < self._rest:
            return 0
        began = time.monotonic()
        try:
            done = step(parts.db, self.follower, self._limit)
        except (EmbedderDown, ModelMissing, ModelMismatch) as error:
            after = error.after if isinstance(error, EmbedderDown) else 60.0
            self._rest, self.problem = time.monotonic() + max(after, 1.0), error.message
            log.warning("embedding_rests", seconds=after, error=error.message)
            return 0
        self.problem = ""
        if done >= self._limit or done > FEWEST:
            self.rate = done / max(time.monotonic() - began, 1e-3)
            self._limit = min(max(int(self.rate * AIM), FEWEST), LIMIT)
        return done


class Embedding:
    """Every embedding worker of the process. Not for sharing between threads."""

    def __init__(self, parts: Parts, writer: VectorWriter) -> None:
        """Raises ModelMissing when the model that serves cannot be opened."""
        self._parts, self._writer = parts, writer
        self._choice = self._read()
        self._build()

    @property
    def serving(self) -> list[Follower]:
        """What follows the feed for those who search; not the model that is only to take over."""
        return [worker.follower for worker in self._workers if worker is not self._new]

    def step(self) -> int:
        """A step of each, after a look at what is chosen."""
        self._choice = self._read()
        if _models(self._choice) != self._built or self._grace_is_over(self._choice):
            self._build()
        done = sum(worker.step(self._parts) for worker in self._workers)
        if self._new is not None:
            self._report(self._new)
        return done

    def _read(self) -> Choice | None:
        with self._parts.db.read() as tx:
            return read_choice(tx)

    def _build(self) -> None:
        choice, parts = self._choice, self._parts
        self._built = _models(choice)
        serving = parts.open_model(choice.serving if choice else parts.config.embed.model)
        self._kept_former = choice is not None and not choice.switching and not _is_over(choice)
        self._new: Worker | None = None
        known, code = parts.code_model()
        kinds = frozenset(Kind) - {Kind.SYMBOL} if known else frozenset(Kind)
        beside = {code} if known else set()
        wanted = self._wanted() if choice is not None and choice.switching else None
        if wanted is not None:
            beside.add(wanted.model_id)
        former = self._former_ids(serving.model_id) if self._kept_former else set()
        self._workers = [self._worker(serving, kinds, (beside | former) - {serving.model_id})]
        if wanted is not None:
            new = {serving.model_id, *beside} - {wanted.model_id}
            self._new = self._worker(wanted, kinds, new, first=FEWEST * 4)
            self._workers.append(self._new)
        if known:
            all_models = {serving.model_id, *beside, *former} - {code}
            coder = CodeFollower(
                parts.db, self._writer, MiniLM(threads=THREADS), parts.redact.text, beside=sorted(all_models)
            )
            self._workers.append(Worker(coder))

    def _wanted(self) -> Embedder | None:
        """The model that is to take over, unless it cannot be opened, which `status` then says."""
        assert self._choice is not None
        try:
            return self._parts.open_model(self._choice.wanted)
        except ModelMissing as error:
            self._keep(replace(self._choice, problem=error.message))
            return None

    def _worker(self, model: Embedder, kinds: frozenset[Kind], beside: Collection[str], first: int = LIMIT) -> Worker:
        follower = EmbeddingFollower(self._parts.db, self._writer, model, kinds=kinds, beside=sorted(beside))
        return Worker(follower, first)

    def _former_ids(self, serving: str) -> set[str]:
        with self._parts.db.read() as tx:
            rows = tx.all("SELECT name FROM setting WHERE name LIKE 'kinds:%'")
        return {name.removeprefix("kinds:") for (name,) in rows} - {serving}

    def _report(self, new: Worker) -> None:
        """Note how fast it goes; when it has caught up, the new model serves."""
        choice = self._choice
        if choice is None or not choice.switching:
            return
        after = replace(choice, rate=round(new.rate, 1), problem=new.problem)
        if not new.problem and behind(self._parts.db, new.follower) == 0:
            after = replace(after, serving=choice.wanted, switched=wall_clock(), problem="")
        if after != choice:
            self._keep(after)

    def _keep(self, choice: Choice) -> None:
        """Write it, unless a person chose something else meanwhile."""
        with self._parts.db.write() as tx:
            now = read_choice(tx)
            if now is not None and (now.wanted, now.since) == (choice.wanted, choice.since):
                write_choice(tx, choice)
                self._choice = choice

    def _grace_is_over(self, choice: Choice | None) -> bool:
        return self._kept_former and (choice is None or _is_over(choice))


def _models(choice: Choice | None) -> tuple[str, str] | None:
    return (choice.serving, choice.wanted) if choice is not None else None


def _is_over(choice: Choice) -> bool:
    """Whether the former model's vectors may go."""
    return choice.switched is None or wall_clock() > choice.switched + GRACE
