"""Replaying: session by session, memory is rebuilt as it was just before, asked, and then told what was said."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from flywheel.api.replay import ReplayNeed, ReplaySession
from flywheel.config import Config
from flywheel.embed import Embedder
from flywheel.jobs.worker import Stopped
from flywheel.model import Micros, ProjectId, Session, short_id
from flywheel.model.ids import seeded_ids
from flywheel.replay import evidence
from flywheel.replay.needs import DECISION, Need, Needs, needs_of, sought, told
from flywheel.replay.world import Beat, World, open_world
from flywheel.store import Db
from flywheel.text.compose import fixed
from flywheel.text.tokens import count

SEED: Final = 1
"""Of the ids that memory makes there."""

PROMPT_CHARS: Final = 4_000
"""Characters of a prompt that are asked with, as the hooks do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which sessions are scored: the last so many of these projects (all unless given) and this agent."""

    projects: Sequence[ProjectId] = ()
    agent: str = ""
    last: int = 20


@dataclass(slots=True, kw_only=True)
class _Past:
    """What the user's store holds, and up to when the world has heard it."""

    db: Db
    sessions: Sequence[Session]
    until: Micros = Micros(0)
    heard: dict[str, int] = field(default_factory=dict)  # session → messages


def chosen(db: Db, wanted: Wanted) -> tuple[list[Session], list[Session]]:
    """Every session that memory learns from, and those that are scored, both in the order in which they began."""
    sessions = evidence.sessions_of(db, wanted.projects)
    own = [one for one in sessions if one.parent_id is None and wanted.agent in ("", one.agent)]
    return sessions, own[-wanted.last :] if wanted.last else []


def replay(
    db: Db,
    config: Config,
    embedder: Embedder | None,
    wanted: Wanted,
    *,
    beat: Beat = lambda doing: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[ReplaySession]:
    """The scored sessions, one after the other; the same store and settings always give the same.

    Reads ``db`` and writes nothing there: memory is rebuilt in a folder that is deleted at the end. Ends early when
    ``stopping`` says so.
    """
    sessions, scored = chosen(db, wanted)

    def alive(doing: str) -> None:
        if stopping():
            raise Stopped
        beat(doing)

    with tempfile.TemporaryDirectory(prefix="flywheel-replay-") as folder:
        with seeded_ids(SEED):
            world = open_world(Path(folder), config, embedder)
        try:
            world.meet(evidence.projects_of(db, sessions))
            past = _Past(db=db, sessions=sessions)
            for session in scored:
                with seeded_ids(SEED + past.until):
                    _catch_up(past, world, session.started_at, alive)
                    alive(f"asking for session {short_id(session.id)}")
                    found = _score(db, world, session)
                yield found
        except Stopped:
            return
        finally:
            world.close()


def _catch_up(past: _Past, world: World, until: Micros, beat: Beat) -> None:
    """Tell the world everything from before ``until`` that it has not heard yet."""
    since, past.until = past.until, max(past.until, until)
    world.clock[0] = past.until
    spoke: list[Session] = []
    for session in past.sessions:
        if session.started_at >= past.until or session.last_at < since:
            continue
        now = None
        for messages in evidence.said_between(past.db, session, since, past.until):
            beat(f"hearing session {short_id(session.id)}")
            past.heard[session.id] = past.heard.get(session.id, 0) + len(messages)
            last = max(message.created_at for message in messages)
            now = _then(session, past.heard[session.id], last, past.until)
            world.hear(now, messages)
        if now is not None:
            spoke.append(now)
    world.take_back(evidence.retracted_between(past.db, past.sessions, since, past.until))
    for document in evidence.filed_between(past.db, list(world.folders), since, past.until):
        world.file(document)
    world.learn(spoke, beat)


def _then(session: Session, messages: int, last: Micros, now: Micros) -> Session:
    """A session's row as it was ``now``: of one that went on nothing that came later."""
    if session.last_at < now:
        return replace(session, messages=messages)
    return replace(session, messages=messages, last_at=last, ended_at=None, title=fixed(""), facts={})


def _score(db: Db, world: World, session: Session) -> ReplaySession:
    """Ask as the session would have, at its start and with its first prompt, and look what of its needs was told."""
    needs = needs_of(session, evidence.messages_of(db, session), floor=world.config.extract.floor)
    start = world.brief(session, "", ())
    items = [item.id for part in start.slices for item in part.items]
    texts, tokens = [start.text], start.tokens
    if needs.prompt and world.config.hooks.prompt_budget:
        more = world.brief(session, needs.prompt[:PROMPT_CHARS], items)
        items += [item.id for part in more.slices for item in part.items]
        texts, tokens = [*texts, more.text], tokens + more.tokens
    text = "\n".join(texts)
    wanted = [*needs.found, *_known(world, session, needs)]
    plain = _packed(world.newest(session), tokens)
    found = [
        ReplayNeed(
            kind=one.kind, name=one.name, tries=one.tries, told=(here := told(one, text, items)),
            plain=told(one, plain, ()), met=here or _had_come_up(world, session, one),
        )
        for one in wanted
    ]  # fmt: skip
    return ReplaySession(
        id=session.id,
        short=short_id(session.id),
        project_id=session.project_id,
        title=session.title,
        agent=session.agent,
        at=session.started_at,
        needed=len(found),
        told=sum(one.told for one in found),
        plain=sum(one.plain for one in found),
        met=sum(one.met for one in found),
        tokens=tokens,
        items=len(items),
        needs=found,
    )


def _had_come_up(world: World, session: Session, need: Need) -> bool:
    """Whether memory could have told it: somebody had said it, or done it, in the project before."""
    return need.kind == DECISION or any(told(need, text, ()) for text in world.said(session, sought(need)))


def _known(world: World, session: Session, needs: Needs) -> Iterator[Need]:
    """The decisions that a person explained although memory had them."""
    for draft in needs.drafts:
        entries = world.holds(session.project_id, draft)
        if entries:
            yield Need(kind=DECISION, name=draft.statement, entries=entries)


def _packed(texts: Sequence[str], budget: int) -> str:
    """The newest messages that fit into as many tokens, without anything chosen: what is compared with."""
    packed: list[str] = []
    for text in texts:
        cost = count(text + "\n")
        if cost <= budget:
            budget -= cost
            packed.append(text)
    return "\n".join(packed)
