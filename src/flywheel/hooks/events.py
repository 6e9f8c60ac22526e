"""The hook entry: a payload in, the agent's bytes and the work to do afterwards out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import orjson
import structlog

from flywheel.api import Briefing
from flywheel.hooks import claude
from flywheel.hooks.moment import Action, Ended, Harvest, Injected, Moment, Observe, What
from flywheel.hooks.sessions import Sessions
from flywheel.hooks.transcripts import transcript_under
from flywheel.model import Micros
from flywheel.text.redact import Redactor
from flywheel.text.words import terms

PROMPT_CHARS: Final = 4_000
"""Characters of a prompt that are searched for."""

FRESH: Final = ("startup", "clear", "compact")
"""Sources of a start whose context is empty: everything may be injected again."""

LAG: Final = {What.TURN_END: 1.0, What.SUBAGENT_END: 1.0, What.END: 1.0}
"""Seconds to wait before reading the transcript: the agent writes its last lines asynchronously."""

ASSENT: Final = frozenset(
    terms(
        "ok okay go ahead continue proceed next sure yep yeah nope right good great fine nice perfect thanks thank "
        "works try again keep going start stop please"
    )
)
"""Words that say how a person feels about what was said before, not what the prompt is about."""

log = structlog.get_logger("hooks")

Handled = tuple[bytes, Sequence[Action]]


class Agent(Protocol):
    """One agent's file, as this module sees it."""

    def understand(self, event: str, payload: Mapping[str, object]) -> Moment:
        """The payload, normalised."""

    def answer(self, event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
        """The bytes for the agent; empty for an empty briefing."""


AGENTS: Final[Mapping[str, Agent]] = {claude.AGENT: claude}


class Assemble(Protocol):
    """Makes a briefing (`context.assemble.Assembler.assemble`)."""

    def __call__(
        self, *, cwd: str, query: str, agent: str, budget: int | None, session: str, exclude: Collection[str]
    ) -> Briefing:
        """The briefing for a folder, without the items of those ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDeps:
    """What the entry needs of the rest."""

    assemble: Assemble
    injected: Callable[[str], Collection[str]]  # native session → ids of items that the ledger says went into it
    roots: Callable[[str], Sequence[Path]]  # agent → folders that its transcripts lie in
    redact: Redactor
    now: Callable[[], Micros]
    prompt_budget: int = 600  # tokens; 0 injects nothing at prompts


class Hooks:
    """Answers hooks. For any number of threads; what was injected lives in memory and reaches the ledger later."""

    def __init__(self, deps: HookDeps) -> None:
        self._deps = deps
        self._sessions = Sessions(deps.injected)
        self.counts: Counter[str] = Counter()
        """Events by what became of them.

        answered, taken (work only), empty (nothing worth injecting), late (from the spool), test, and the odd ones:
        twin, subagent, foreign, unknown, malformed, failed.
        """

    def handle(self, agent: str, event: str, payload: bytes, *, live: bool = True) -> Handled:
        """The answer to the last byte, and what to do after it was sent. Never raises.

        ``live`` is False for an event from the spool: its agent went on long ago, so nothing is assembled.
        """
        known, data = AGENTS.get(agent), _parse(payload)
        if known is None or data is None:
            return self._nothing("unknown" if known is None else "malformed")
        try:
            return self._handle(agent, known, event, data, live)
        except Exception as error:  # the hook entry is a boundary: the agent goes on, whatever it is
            log.exception("hook_failed", agent=agent, hook=event, error=type(error).__name__)
            return self._nothing("failed")

    def _handle(self, agent: str, known: Agent, event: str, data: Mapping[str, object], live: bool) -> Handled:
        moment = known.understand(event, data)
        if moment.test:
            self.counts["test"] += 1
            return known.answer(event, data, _proof()), ()
        if not moment.session:
            return self._nothing("malformed")
        if not self._sessions.first(moment.session, f"{moment.what}\0{moment.twin}", self._deps.now()):
            return self._nothing("twin")
        actions = self._work(agent, moment)
        if moment.what not in (What.START, What.PROMPT):
            return self._nothing("taken", actions)
        if reason := self._reason_against(moment, live):
            return self._nothing(reason, actions)
        briefing = self._assemble(agent, moment)
        answer = known.answer(event, data, briefing)
        if not answer:
            return self._nothing("empty", actions)
        self._sessions.add(moment.session, [item.id for part in briefing.slices for item in part.items])
        self.counts["answered"] += 1
        return answer, [*actions, Injected(agent=agent, event=event, session=moment.session, briefing=briefing)]

    def _reason_against(self, moment: Moment, live: bool) -> str:
        """Why nothing is to be injected, or ""."""
        if moment.subagent or moment.foreign:
            return "subagent" if moment.subagent else "foreign"
        if not live:
            return "late"
        wanted = moment.what is What.START or (self._deps.prompt_budget > 0 and worth_asking(moment.prompt))
        return "" if moment.cwd and wanted else "empty"

    def _assemble(self, agent: str, moment: Moment) -> Briefing:
        asking = moment.what is What.PROMPT
        if not asking and moment.source in FRESH:
            self._sessions.restart(moment.session)
        return self._deps.assemble(
            cwd=moment.cwd,
            query=moment.prompt[:PROMPT_CHARS] if asking else "",
            agent=agent,
            budget=self._deps.prompt_budget if asking else None,
            session=moment.session,
            exclude=self._sessions.injected(moment.session),
        )

    def _work(self, agent: str, moment: Moment) -> Sequence[Action]:
        """What the event sets going beside the answer."""
        if moment.what is What.TOOL:
            return [self._observe(agent, moment)]
        if moment.what in (What.PROMPT, What.OTHER):
            return []
        ended = moment.what is What.END
        actions: list[Action] = []
        if path := transcript_under(moment.transcript, self._deps.roots(agent)):
            delay = LAG.get(moment.what, 0.0)
            actions.append(Harvest(agent=agent, session=moment.session, path=path, ended=ended, delay=delay))
        if ended:
            actions.append(Ended(agent=agent, session=moment.session, reason=moment.source))
        return actions

    def _observe(self, agent: str, moment: Moment) -> Observe:
        facts = self._deps.redact.value(dict(moment.facts))
        return Observe(
            agent=agent,
            session=moment.session,
            cwd=moment.cwd,
            kind="tool_failure" if moment.failed else "tool_success",
            subject=self._deps.redact.text(moment.tool[:200]),
            facts=facts if isinstance(facts, dict) else {},
        )

    def _nothing(self, why: str, actions: Sequence[Action] = ()) -> Handled:
        self.counts[why] += 1
        return b"", actions


def worth_asking(prompt: str) -> bool:
    """Whether a prompt speaks of anything: "yes", "go on" and "ok, do it" do not."""
    return len(set(terms(prompt[:PROMPT_CHARS])) - ASSENT) >= 2


def _parse(payload: bytes) -> Mapping[str, object] | None:
    """The payload as an object; None when it is none. Lone surrogates, which orjson refuses, are let through."""
    try:
        found: object = orjson.loads(payload)
    except orjson.JSONDecodeError:
        try:
            found = json.loads(payload)
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


def _proof() -> Briefing:
    """What the installer's test event gets."""
    return Briefing(id="", project_id="", project="", text="Flywheel answers.", tokens=0, budget=0, slices=(), micros=0)
