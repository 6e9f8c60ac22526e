"""Hooks in the daemon: answered at once; the work and the ledger follow from a thread that nobody waits for."""

from __future__ import annotations

import os
import queue as waiting
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Final

import structlog

from flywheel.app.parts import HARVEST, RETRO, Parts, wall_clock
from flywheel.behaviour import watching
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.observing import from_hook
from flywheel.context import record
from flywheel.context.assemble import Assembler
from flywheel.context.gotchas import Gotchas
from flywheel.errors import FlywheelError
from flywheel.harvest import discover
from flywheel.hooks.events import About, HookDeps, Hooks
from flywheel.hooks.moment import Action, Ended, Harvest, Injected, Observe
from flywheel.jobs import queue
from flywheel.model import GLOBAL, Kind, Micros, ProjectId, SessionId
from flywheel.projects import queries as projects
from flywheel.readers import readers_of, session_id
from flywheel.store import mapper

BACKLOG: Final = 2000
"""Actions that wait at most; more are dropped and counted, because a hook never waits."""

ENDINGS: Final = 256
"""Sessions that are over and whose transcript is not read yet, at most; the oldest is given up."""

PATIENCE: Final = 600.0
"""Seconds after which such a session is given up: agents also end sessions that never began."""

FIRST_LOOK: Final = 0.5
"""Seconds after which a session that is over is looked for again, if it was not known yet."""

AWAY: Final = (0.2, 1.0, 5.0)
"""Seconds between two tries at a store that is away; the last again and again."""

CLOSING: Final = 5.0
"""Seconds that closing waits for what is queued."""

LAG: Final = 0.03
"""Seconds that the first action waits: the answer is on its way, and writing beside it would slow it."""

log = structlog.get_logger("hooks")


def _gotchas(parts: Parts) -> About | None:
    budget = parts.config.hooks.gotcha_tokens
    return Gotchas(parts.db, parts.redact, budget).about if budget else None


class Hooking:
    """The hook entry with what it sets going."""

    def __init__(self, parts: Parts, assembler: Assembler, poke: Callable[[], None]) -> None:
        self._parts = parts
        self._poke = poke
        self._todo: waiting.Queue[Action | None] = waiting.Queue(BACKLOG)
        self._endings: dict[SessionId, tuple[Micros, float]] = {}  # when, by the store's clock and by a monotonic one
        self._look_at = 0.0  # monotonic: when the sessions that are over are looked for again
        self._closing = threading.Event()
        self._away = ""  # why the store does not take anything now
        self.dropped = 0
        self._hooks = Hooks(
            HookDeps(
                assemble=assembler.assemble,
                injected=self._injected,
                roots=self._roots,
                redact=parts.redact,
                now=wall_clock,
                reads=self._reads,
                prompt_budget=parts.config.hooks.prompt_budget,
                about=_gotchas(parts),
            )
        )
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    def answer(self, agent: str, event: str, payload: bytes, *, host: str = "", live: bool = True) -> bytes:
        """The hook's answer; its actions are queued."""
        body, actions = self._hooks.handle(agent, event, payload, host=host, live=live)
        for action in actions:
            try:
                self._todo.put_nowait(action)
            except waiting.Full:
                self.dropped += 1
        return body

    def close(self) -> None:
        """Do what is queued, at most for a few seconds; what waits for a store that is away is given up."""
        self._closing.set()
        with suppress(waiting.Full):
            self._todo.put(None, timeout=CLOSING)
        self._thread.join(CLOSING)

    def problems(self) -> Sequence[str]:
        """What keeps hooks from working, for ``status``."""
        told = [f"{self.dropped} hook events were dropped: the store is too slow"] if self.dropped else []
        if self._away:
            told.append(f"{self._todo.qsize() + 1} hook events wait for the store: {self._away}")
        odd = {name: self._hooks.counts[name] for name in ("malformed", "failed") if self._hooks.counts[name]}
        return [*told, *(f"{count} hook events were {name}; see the log" for name, count in odd.items())]

    def _injected(self, native: str) -> Collection[str]:
        with self._parts.db.read() as tx:
            rows = tx.all("SELECT DISTINCT item_id FROM injection WHERE native_session = :session", session=native)
        return {id for (id,) in rows}

    def _roots(self, agent: str) -> Sequence[Path]:
        return [Path(root.path) for root in self._places(agent)]

    def _reads(self, agent: str, path: Path) -> bool:
        return discover.find(str(path), self._places(agent)) is not None

    def _places(self, agent: str) -> Sequence[discover.Root]:
        """The agent's own folders. An answer waits for this; and who writes into checkouts (aider) has no hooks."""
        readers = {reader.name: reader for reader in readers_of(agent)}
        return self._parts.whereabouts(checkouts=False).roots(readers)

    def _work(self) -> None:
        """Until told to end: do one action after the other. What fails is logged; the next one goes on."""
        while True:
            pause = max(0.0, self._look_at - time.monotonic()) if self._endings else None
            try:
                action = self._todo.get(timeout=pause)
            except waiting.Empty:
                self._safely(None)
                continue
            if action is None:
                return
            if self._todo.empty():
                time.sleep(LAG)
            self._safely(action)

    def _safely(self, action: Action | None) -> None:
        """Do it; None stands for looking for the sessions that are over. What the store does not take now waits for
        it, and with it all that comes meanwhile, until we close."""
        pauses = chain(AWAY, repeat(AWAY[-1]))
        while self._is_away(action):
            if self._closing.wait(next(pauses)):
                log.error("hook_action_lost", action=type(action).__name__, reason=self._away)
                return
        self._away = ""

    def _is_away(self, action: Action | None) -> bool:
        """Try it; whether the store was away. What fails otherwise is logged."""
        try:
            if action is None:
                self._end_sessions()
            else:
                self._do(action)
        except FlywheelError as error:
            if error.retryable:
                if not self._away:
                    log.warning("hook_actions_wait", reason=error.message)
                self._away = error.message
                return True
            log.error("hook_action_failed", action=type(action).__name__, error=error.message)
        except Exception as error:
            log.exception("hook_action_failed", action=type(action).__name__, error=type(error).__name__)
        return False

    def _do(self, action: Action) -> None:
        match action:
            case Harvest():
                self._harvest(action)
            case Ended():
                self._ended(action)
            case Observe():
                self._observe(action)
            case Injected():
                self._ledger(action)

    def _harvest(self, action: Harvest) -> None:
        path = os.path.realpath(action.path)
        with self._parts.db.write() as tx:
            queue.enqueue(
                tx,
                kind=HARVEST,
                key=path,
                project_id=None,
                now=self._parts.db.clock(),
                payload={"agent": action.agent},
                delay=action.delay,
            )
        self._poke()

    def _ended(self, action: Ended) -> None:
        """The session is over. One whose transcript was never read yet has no row; its end waits for that."""
        id, now = session_id(action.agent, action.session), time.monotonic()
        self._endings[id] = (self._parts.db.clock(), now)
        if len(self._endings) > ENDINGS:
            del self._endings[next(iter(self._endings))]
        self._look_at = now + FIRST_LOOK
        self._end_known([id])

    def _end_sessions(self) -> None:
        """Note the end of each session that is over and known by now; look for the others after a growing pause."""
        now = time.monotonic()
        youngest = max((since for _, since in self._endings.values()), default=now)
        self._look_at = now + min(FIRST_LOOK + (now - youngest) / 4, 15.0)  # whatever comes of this one
        self._end_known(list(self._endings))
        for id in [id for id, (_, since) in self._endings.items() if now - since > PATIENCE]:
            del self._endings[id]

    def _end_known(self, ids: Sequence[SessionId]) -> None:
        """Note the ends of those of ``ids`` that have a row: their retrospectives need not wait for idleness."""
        if not ids:
            return
        with self._parts.db.read() as tx:
            known = tx.all("SELECT id, project_id FROM session WHERE id IN :ids", ids=ids)
        for id, project in known:
            self._end(SessionId(id), self._endings[SessionId(id)][0], ProjectId(project))
            del self._endings[SessionId(id)]
        if known:
            self._poke()

    def _end(self, id: SessionId, at: Micros, project: ProjectId) -> None:
        now = self._parts.db.clock()
        with self._parts.db.write() as tx:
            if tx.run("UPDATE session SET ended_at = :at WHERE id = :id", at=at, id=id):
                tx.changed(Kind.SESSION, id, project)
                queue.enqueue(tx, kind=RETRO, key=id, project_id=project, now=now, delay=3.0)

    def _observe(self, action: Observe) -> None:
        now = wall_clock()
        project = projects.resolve(self._parts.db, action.cwd, now) if action.cwd else None
        roots = [str(project.root), action.cwd] if project is not None else []
        rows = watching.rows_of(
            from_hook(action.kind, action.subject, action.facts, now, roots),
            native=action.session,
            project=project.id if project is not None else GLOBAL,
            identity=local_identity(),
            redact=self._parts.redact,
        )
        if rows:
            idle = self._parts.config.extract.idle_minutes * 60.0
            with self._parts.db.write() as tx:
                mapper.insert_many(tx, rows)
                watching.ask(tx, local_identity(), self._parts.db.clock(), delay=idle)

    def _ledger(self, action: Injected) -> None:
        kept, injections = record.rows(
            action.briefing, agent=action.agent, event=action.event, session=action.session, now=wall_clock()
        )
        with self._parts.db.write() as tx:
            mapper.insert(tx, kept)
            mapper.insert_many(tx, injections)
