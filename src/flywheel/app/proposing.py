"""The verb ``propose``: an agent's claim, filed as a candidate once code has found the words that it cites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from flywheel.api import Proposed
from flywheel.app.parts import HARVEST, Parts, wall_clock
from flywheel.errors import BadInput, Refused, Unavailable
from flywheel.harvest import cited, discover, proposal, quoting
from flywheel.harvest.entries import Origin, Written, write_draft
from flywheel.harvest.proposal import Evidence
from flywheel.harvest.quoted import Said, who_said
from flywheel.harvest.twins import find_twin
from flywheel.model import Clean, Document, Entry, EntryId, Kind, Micros, Role, Status
from flywheel.projects import queries as projects
from flywheel.readers import session_id
from flywheel.store import Tx, mapper
from flywheel.store.forget import is_forgotten
from flywheel.text.compose import is_injected, squeeze

SOON: Final = 0.5
"""Seconds after which it is worth asking again while a transcript is being read."""

SCOPE: Final = 200
"""Characters of a scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A request in redacted text."""

    statement: Clean
    quote: Clean
    source: str
    type: str
    scope: Clean
    cwd: str  # real path
    agent: str
    session: str  # native id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What a proposal rests on, as it is written and as it is told."""

    evidence: Evidence
    origin: Origin
    said_by: str
    document: Document | None = None


def read_proposal(
    parts: Parts, *, statement: str, quote: str, cwd: str, source: str, type: str, scope: str, agent: str, session: str
) -> Proposal:
    """The request, redacted and of bearable size. Raises BadInput that names the field."""
    clean = parts.redact.text
    given = {"statement": statement, "quote": quote}
    for field, most in (("statement", proposal.LONGEST), ("quote", quoting.LONGEST)):
        text = given[field].strip()
        if quoting.too_short(text, placed=field == "quote" and bool(source.strip())):
            raise BadInput(
                f"the field {field!r} is too short to mean anything by itself; write more of it", field=field
            )
        if len(text) > most:
            raise BadInput(f"the field {field!r} has more than {most} characters; say it in fewer", field=field)
        if is_injected(text):
            raise BadInput(f"the field {field!r} holds an answer of Flywheel's own, which proves nothing", field=field)
        if "[redacted:" in clean(text):
            raise BadInput(f"the field {field!r} holds something secret; leave it out", field=field)
    return Proposal(
        statement=squeeze(clean(statement)),
        quote=clean(quote.strip()),
        source=source.strip(),
        type=type.strip().lower(),
        scope=squeeze(parts.redact.short(scope, SCOPE)),
        cwd=cwd,
        agent=agent,
        session=session,
    )


def propose(parts: Parts, asked: Proposal, poke: Callable[[], None]) -> Proposed:
    """File the claim. Raises as `Api.propose`."""
    now = wall_clock()
    ground = _in_file(parts, asked, now) if asked.source else _in_talk(parts, asked, poke)
    written = Written()
    with parts.db.read() as tx:
        quote = ground.evidence.quote
        twin = find_twin(tx, ground.origin.project_id, asked.statement, asked.scope, quote)
    draft = proposal.draft(asked.statement, ground.evidence, type=asked.type, scope=asked.scope, twin=twin)
    with parts.db.write() as tx:
        if ground.document is not None:
            _keep(tx, ground.document)
        entry = write_draft(tx, draft, ground.origin, now, written)
        entry = mapper.get(tx, Entry, id=EntryId(entry.id)) if entry is not None else None
    if entry is None:
        raise Refused("this was forgotten on a person's word and is not filed again")
    poke()
    return Proposed(
        id=entry.id,
        short=entry.short,
        status=entry.status.value,
        said_by=ground.said_by,
        message=_told(entry, written, draft.type != asked.type and asked.type, draft.type.value),
    )


def _told(entry: Entry, written: Written, overruled: str | bool, type_: str) -> str:
    if entry.status is Status.REJECTED:
        return "A person rejected this statement before; it stays rejected."
    if written.new:
        said = f"Filed as an unconfirmed {type_.replace('_', ' ')}; only a person confirms it."
    elif written.merged:
        said = f"Known already ({entry.status.value}): your citation was added to what it rests on."
    else:
        said = f"Known already ({entry.status.value}), with this citation."
    return f"{said} Not as a {overruled}: what a tool or a page says is an external claim." if overruled else said


def _in_file(parts: Parts, asked: Proposal, now: Micros) -> _Ground:
    project = projects.resolve(parts.db, asked.cwd, now).id
    found = cited.cite(asked.source, asked.quote, cwd=asked.cwd, project=project, redact=parts.redact, now=now)
    evidence = Evidence(quote=found.quote, role=Role.SYSTEM, said_at=found.written_at, rank=found.rank)
    return _Ground(evidence=evidence, origin=Origin(project_id=project), said_by=found.where, document=found.document)


def _keep(tx: Tx, document: Document) -> None:
    """Store this version of a file, once. Raises Refused for one that was forgotten."""
    if is_forgotten(tx, "document", [document.id]):
        raise Refused(f"this version of {document.path} was forgotten on a person's word and is not kept again")
    if mapper.insert_many(tx, [document]):
        tx.changed(Kind.DOCUMENT, document.id, document.project_id)


def _in_talk(parts: Parts, asked: Proposal, poke: Callable[[], None]) -> _Ground:
    said = _said(parts, asked)
    if said is None:
        if unread(parts, agent=asked.agent, session=asked.session):
            poke()
            raise Unavailable(
                "what was said last is not read yet; try again in a moment", field="quote", again_seconds=SOON
            )
        raise BadInput(
            "the quote was not found word for word in this session or in the project's recent sessions; copy what the"
            " user said exactly, or name the file that it stands in as source (path:line)",
            field="quote",
        )
    message = said.message
    evidence = Evidence(quote=said.quote, role=message.role, said_at=message.created_at, rank=1)
    origin = Origin(project_id=said.session.project_id, session=said.session)
    return _Ground(evidence=evidence, origin=origin, said_by=message.role.value)


def _said(parts: Parts, asked: Proposal) -> Said | None:
    with parts.db.read() as tx:
        project = projects.peek(tx, asked.cwd)
        family = projects.family(tx, project.id) if project is not None else []
        return who_said(tx, asked.quote, agent=asked.agent, session=asked.session, projects=family)


def unread(parts: Parts, *, agent: str, session: str) -> bool:
    """Whether a transcript that may hold the words has more than was read of it; it is queued then.

    The session's own where it is known, else every one of the agent.
    """
    looked = discover.discover(parts.whereabouts())
    mine = [one for one in looked.found if not agent or one.agent == agent]
    if session:
        with parts.db.read() as tx:
            rows = tx.all("SELECT path FROM transcript_file WHERE session_id = :id", id=session_id(agent, session))
        paths = {path for (path,) in rows}
        mine = [one for one in mine if one.path in paths or session in one.path] or mine
    swept = discover.sweep(parts.db, replace(looked, found=mine, roots=()), wall_clock())
    if swept.enqueued:
        return True
    waiting = {one.path for one in mine}
    with parts.db.read() as tx:
        rows = tx.all("SELECT key FROM job WHERE kind = :kind AND state IN ('queued', 'running')", kind=HARVEST)
    return any(key in waiting for (key,) in rows)
