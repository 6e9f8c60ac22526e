"""The hook entry: a payload in, the agent's bytes and the work to do afterwards out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import orjson
import structlog

from flywheel.api import Briefing
from flywheel.hooks import claude, codex, copilot, cursor, gemini, opencode
from flywheel.hooks.hosts import host_of
from flywheel.hooks.moment import Action, Ended, Harvest, Injected, Moment, Observe, What
from flywheel.hooks.sessions import Sessions
from flywheel.hooks.transcripts import database_under, transcript_under
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

FILE_FACTS: Final = ("file_path", "filePath", "notebook_path", "path")
"""Where a tool's input names the one file that it is about."""

MOST_FILES: Final = 5
"""Files of a patch that are asked about."""

_KINDS: Final = {True: "tool_failure", False: "tool_success", None: "tool_run"}

log = structlog.get_logger("hooks")

Handled = tuple[bytes, Sequence[Action]]


class Agent(Protocol):
    """One agent's file, as this module sees it."""

    def understand(self, event: str, payload: Mapping[str, object]) -> Moment:
        """The payload, normalised."""

    def answer(self, event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
        """The bytes for the agent; empty for an empty briefing."""


AGENTS: Final[Mapping[str, Agent]] = {
    claude.AGENT: claude,
    codex.AGENT: codex,
    gemini.AGENT: gemini,
    opencode.AGENT: opencode,
    cursor.AGENT: cursor,
    copilot.AGENT: copilot,
}


class Assemble(Protocol):
    """Makes a briefing (`context.assemble.Assembler.assemble`)."""

    def __call__(
        self, *, cwd: str, query: str, agent: str, budget: int | None, session: str, exclude: Collection[str]
    ) -> Briefing:
        """The briefing for a folder, without the items of those ids."""


class About(Protocol):
    """Says what is confirmed about a file (`context.gotchas.Gotchas.about`)."""

    def __call__(self, *, cwd: str, path: str, exclude: Collection[str], now: Micros) -> Briefing | None:
        """Without the items of those ids; None for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDeps:
    """What the entry needs of the rest."""

    assemble: Assemble
    injected: Callable[[str], Collection[str]]  # native session → ids of items that the ledger says went into it
    roots: Callable[[str], Sequence[Path]]  # agent → folders that its transcripts lie in
    redact: Redactor
    now: Callable[[], Micros]
    reads: Callable[[str, Path], bool]  # agent, real path below a root → whether one of its readers takes the file
    prompt_budget: int = 600  # tokens; 0 injects nothing at prompts
    about: About | None = None  # what is confirmed about a file; None where nobody wants to hear it


class Hooks:
    """Answers hooks. For any number of threads; what was injected lives in memory and reaches the ledger later."""

    def __init__(self, deps: HookDeps) -> None:
        self._deps = deps
        self._sessions = Sessions(deps.injected)
        self.counts: Counter[str] = Counter()
        """Events by what became of them.

        answered, taken (work only), empty (nothing worth injecting), late (from the spool), test, and the odd ones:
        twin (came before), foreign (another agent runs this one's entry), subagent, unknown, malformed, failed.
        """

    def handle(self, agent: str, event: str, payload: bytes, *, host: str = "", live: bool = True) -> Handled:
        """The answer to the last byte, and what to do after it was sent. Never raises.

        ``agent`` is whose entry it is, ``host`` names the marker variables around it (`hosts.host_of`). ``live`` is
        False for an event from the spool: its agent went on long ago, so nothing is assembled.
        """
        known, data = AGENTS.get(agent), _parse(payload)
        if known is None or data is None:
            return self._nothing("unknown" if known is None else "malformed")
        try:
            if data.get("flywheel_test") is True:
                self.counts["test"] += 1
                return known.answer(event, data, _proof()), ()
            return self._handle(agent, host_of(agent, event, data, host.split()), event, data, live)
        except Exception as error:  # the hook entry is a boundary: the agent goes on, whatever it is
            log.exception("hook_failed", agent=agent, hook=event, error=type(error).__name__)
            return self._nothing("failed")

    def _handle(self, entry: str, agent: str, event: str, data: Mapping[str, object], live: bool) -> Handled:
        """One event of ``agent``, delivered by the entry of its own settings or by that of another agent's.

        Whichever delivery comes first does the work; only the own entry answers, once.
        """
        moment = AGENTS[agent].understand(event, data)
        if not moment.session:
            return self._nothing("malformed")
        now, twin = self._deps.now(), f"{moment.what}\0{moment.twin}"
        first = self._sessions.first(moment.session, twin, now)
        actions = self._work(agent, moment) if first else ()
        if entry != agent:
            return self._nothing("foreign" if first else "twin", actions)
        tells = moment.what is What.TOOL and self._deps.about is not None and files_of(moment)
        if moment.what not in (What.START, What.PROMPT) and not tells:
            return self._nothing("taken" if first else "twin", actions)
        if moment.subagent or not live:
            return self._nothing("subagent" if moment.subagent else "late", actions)
        if not self._sessions.first(moment.session, f"answer\0{twin}", now):
            return self._nothing("twin", actions)
        if moment.what is What.START and moment.source in FRESH:
            self._sessions.restart(moment.session)
        try:
            briefings = [] if moment.defers or not moment.cwd else self._briefings(agent, moment)
        except Exception as error:  # the work of the event is done all the same
            log.exception("hook_failed", agent=agent, hook=event, error=type(error).__name__)
            return self._nothing("failed", actions)
        answer, said = _answer(AGENTS[agent], event, data, briefings)
        if not answer:
            return self._nothing("empty", actions)
        for briefing in said:
            self._sessions.add(moment.session, _items(briefing))
        self.counts["answered"] += 1
        injected = [Injected(agent=agent, event=event, session=moment.session, briefing=briefing) for briefing in said]
        return answer, [*actions, *injected]

    def _briefings(self, agent: str, moment: Moment) -> list[Briefing]:
        """What the moment is told, the most important first; empty ones are left out."""
        inside = self._sessions.injected(moment.session)
        made: list[Briefing] = []
        if moment.what is What.TOOL:
            return self._about(moment, inside)
        if moment.what is What.START or (moment.opens and not inside):
            made.append(self._assemble(agent, moment, "", None, inside))
        if moment.what is What.PROMPT and self._deps.prompt_budget > 0 and worth_asking(moment.prompt):
            inside |= {id for briefing in made for id in _items(briefing)}
            made.append(self._assemble(agent, moment, moment.prompt[:PROMPT_CHARS], self._deps.prompt_budget, inside))
        return [briefing for briefing in made if briefing.text]

    def _about(self, moment: Moment, inside: Collection[str]) -> list[Briefing]:
        """What is confirmed about the first of a tool's files of which anything is, and that the session has not."""
        if self._deps.about is None:
            return []
        now = self._deps.now()
        told = (self._deps.about(cwd=moment.cwd, path=path, exclude=inside, now=now) for path in files_of(moment))
        return [one for one in told if one is not None][:1]

    def _assemble(
        self, agent: str, moment: Moment, query: str, budget: int | None, inside: Collection[str]
    ) -> Briefing:
        return self._deps.assemble(
            cwd=moment.cwd, query=query, agent=agent, budget=budget, session=moment.session, exclude=inside
        )

    def _work(self, agent: str, moment: Moment) -> Sequence[Action]:
        """What the event sets going beside the answer."""
        if moment.what is What.TOOL:
            return [self._observe(agent, moment)]
        if moment.what in (What.PROMPT, What.OTHER):
            return []
        if moment.restarts:
            self._sessions.restart(moment.session)
        ended = moment.what is What.END
        actions: list[Action] = []
        if path := self._transcript(agent, moment):
            delay = LAG.get(moment.what, 0.0)
            actions.append(Harvest(agent=agent, session=moment.session, path=path, ended=ended, delay=delay))
        if ended:
            actions.append(Ended(agent=agent, session=moment.session, reason=moment.source))
        return actions

    def _transcript(self, agent: str, moment: Moment) -> Path | None:
        """The file to read: the one that the event names, or the agent's database."""
        roots, reads = self._deps.roots(agent), partial(self._deps.reads, agent)
        if moment.store:
            return database_under(moment.store, roots, reads)
        return transcript_under(moment.transcript, roots, reads)

    def _observe(self, agent: str, moment: Moment) -> Observe:
        facts = self._deps.redact.value(dict(moment.facts))
        return Observe(
            agent=agent,
            session=moment.session,
            cwd=moment.cwd,
            kind=_KINDS[moment.failed],
            subject=self._deps.redact.short(moment.tool, 200),
            facts=facts if isinstance(facts, dict) else {},
        )

    def _nothing(self, why: str, actions: Sequence[Action] = ()) -> Handled:
        self.counts[why] += 1
        return b"", actions


def files_of(moment: Moment) -> list[str]:
    """The files that a tool read or edited, as its input names them."""
    named = [moment.facts.get(key) for key in FILE_FACTS]
    many = moment.facts.get("files")
    found = [*named, *(many if isinstance(many, list) else [])]
    return [path for path in dict.fromkeys(found) if isinstance(path, str) and path][:MOST_FILES]


def _answer(
    agent: Agent, event: str, data: Mapping[str, object], briefings: Sequence[Briefing]
) -> tuple[bytes, Sequence[Briefing]]:
    """The agent's bytes for the briefings, or for the first where all are too much; and which ones are in them."""
    for said in (briefings, briefings[:1]):
        if said:
            whole = replace(said[0], text="\n\n".join(briefing.text for briefing in said))
            if answer := agent.answer(event, data, whole):
                return answer, said
    return b"", ()


def _items(briefing: Briefing) -> list[str]:
    """The ids of everything in it."""
    return [item.id for part in briefing.slices for item in part.items]


def worth_asking(prompt: str) -> bool:
    """Whether a prompt speaks of anything: "yes", "go on" and "ok, do it" do not."""
    return len(set(terms(prompt[:PROMPT_CHARS])) - ASSENT) >= 2


def _parse(payload: bytes) -> Mapping[str, object] | None:
    """The payload as an object; None when it is none.

    A byte order mark, which Cursor puts before it, and lone surrogates, which orjson refuses, are let through.
    """
    payload = payload.removeprefix(b"\xef\xbb\xbf")
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
