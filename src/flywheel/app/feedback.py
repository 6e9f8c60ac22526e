"""The verb ``feedback``: what an agent says of something that memory told it, and how that is shown."""

from __future__ import annotations

from typing import Final

from flywheel.api import Done
from flywheel.app.parts import Parts, wall_clock
from flywheel.app.showing import Found, resolve_id
from flywheel.errors import BadInput, Refused
from flywheel.model import Entry, Feedback, Kind, Project, evidence_id, short_id
from flywheel.store.mapper import insert_many

VERDICTS: Final = ("helped", "wrong", "stale")

LONGEST: Final = 500
"""Characters of a note; more are cut off."""


def give_feedback(parts: Parts, *, id: str, verdict: str, note: str, agent: str, session: str) -> Done:
    """Keep a verdict, once per session, thing and verdict. Raises as `Api.feedback`."""
    if verdict not in VERDICTS:
        raise BadInput(f"the field 'verdict' must be one of {', '.join(VERDICTS)}", field="verdict")
    clean = parts.redact.text
    now = wall_clock()
    with parts.db.write() as tx:
        thing = resolve_id(tx, id)
        if isinstance(thing, Project):
            raise Refused("a project is nothing that was told; name an entry, a message, a symbol or a document")
        kind = type(thing).__name__.lower()
        row = Feedback(
            id=evidence_id("feedback", agent, session, thing.id, verdict),
            project_id=thing.project_id,
            kind=kind,
            target_id=thing.id,
            verdict=verdict,
            note=parts.redact.short(note, LONGEST),
            agent=clean(agent),
            native_session=clean(session),
            created_at=now,
        )
        new = bool(insert_many(tx, [row]))
        if new and isinstance(thing, Entry):
            tx.changed(Kind.ENTRY, thing.id, thing.project_id)  # briefings are made anew
    return Done(ok=True, message=_told(thing, verdict, new), counts={"feedback": int(new)})


def _told(thing: Found, verdict: str, new: bool) -> str:
    if not new:
        return f"Noted before: {verdict} [fw:{short_id(thing.id)}]."
    after = {
        "helped": "It counts a little more from now on.",
        "wrong": "If nobody has confirmed it, it is in no briefing until a person has looked.",
        "stale": "A person sees it.",
    }
    return f"Noted: {verdict} [fw:{short_id(thing.id)}]. {after[verdict]}"
