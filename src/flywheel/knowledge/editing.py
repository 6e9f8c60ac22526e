"""Edits of pages that a person has decided about: a confirmed line takes effect, and what it replaced ends.

Until then its claim has the attribute `EDIT`, which says nothing: no page, no answer and no conflict counts it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flywheel.knowledge import states
from flywheel.knowledge.filed import KINDS, Change, change_at
from flywheel.knowledge.judging import has_value
from flywheel.knowledge.normal import normal_value
from flywheel.knowledge.parts import EDIT, STATES
from flywheel.knowledge.statements import parse
from flywheel.model import Claim, Clean, Micros, Status, short_id
from flywheel.store import Tx
from flywheel.text.compose import fixed, reworded, squeeze

CITES: Final = re.compile(r"\s*\[fw:([\w-]{1,40})\]")
"""A mark of the claim that a line rests on."""

_REPLACED: Final = fixed("replaced by an edit of the page that was confirmed")
_TAKEN_OUT: Final = fixed("taken out by an edit of the page that was confirmed")
_LABEL: Final = re.compile(r"^[^:]{1,80}:\s+")


def effective(tx: Tx, claims: Sequence[Claim], *, now: Micros) -> list[Claim]:
    """Let the confirmed edits among the claims of one entry take effect; the claims as they are now."""
    known = {claim.id: claim for claim in claims}
    for claim in claims:
        if claim.attribute != EDIT or claim.status is not Status.CONFIRMED or claim.valid_until is not None:
            continue
        change = change_of(tx, claim)
        replaced = [known[one.id] for one in cited(change.removed, claims)] if change is not None else []
        known[claim.id] = _take_effect(tx, claim, change, replaced)
        actor = _confirmed_by(tx, claim)
        for old in replaced:
            known[old.id] = _end(tx, old, actor, taken_out=change is not None and not change.added, now=now)
    return list(known.values())


def change_of(tx: Tx, claim: Claim) -> Change | None:
    """What an edit's claim would change on its page; None when its document is gone."""
    rows = tx.all(
        "SELECT d.text, c.start FROM citation c JOIN document d ON d.id = c.document_id"
        " WHERE c.claim_id = :id AND d.kind IN :kinds ORDER BY d.created_at DESC, d.id LIMIT 1",
        id=claim.id,
        kinds=list(KINDS),
    )
    return change_at(rows[0][0], rows[0][1]) if rows else None


def cited(line: str, claims: Sequence[Claim]) -> list[Claim]:
    """The claims that a line of a page rests on."""
    marks = set(CITES.findall(line))
    return [claim for claim in claims if short_id(claim.id) in marks]


def _take_effect(tx: Tx, claim: Claim, change: Change | None, replaced: Sequence[Claim]) -> Claim:
    """The claim with the attribute and the value that its words give; of a line taken out, with none."""
    if change is None or not change.added:
        after = replace(claim, valid_until=claim.said_at)
        tx.run("UPDATE claim SET valid_until = :until WHERE id = :id", until=after.valid_until, id=claim.id)
        return after
    after = _stating(claim, replaced[0] if replaced else None)
    tx.run(
        "UPDATE claim SET subject = :subject, attribute = :attribute, value = :value, scope = :scope WHERE id = :id",
        subject=after.subject,
        attribute=after.attribute,
        value=after.value,
        scope=after.scope,
        id=claim.id,
    )
    return after


def _stating(claim: Claim, old: Claim | None) -> Claim:
    """What the words state: of the attribute that the line replaced speaks of, else as the rules understand them."""
    text = claim.text
    if old is not None and not has_value(old):
        return replace(claim, attribute=old.attribute, subject=old.subject, scope=claim.scope or old.scope)
    found = parse(text, claim.subject)
    if old is not None:
        same = found is not None and found.attribute == old.attribute
        value = found.value if found is not None and same else normal_value(_LABEL.sub("", text))
        scope = claim.scope or (reworded(found.scope, text) if found is not None and found.scope else old.scope)
        return replace(claim, attribute=old.attribute, subject=old.subject, value=reworded(value, text), scope=scope)
    if found is not None:
        return replace(
            claim,
            attribute=reworded(found.attribute, text),
            subject=reworded(found.subject, text),
            value=reworded(found.value, text),
            scope=claim.scope or reworded(found.scope, text),
        )
    return replace(claim, attribute=fixed(STATES))


def _end(tx: Tx, old: Claim, actor: Clean, *, taken_out: bool, now: Micros) -> Claim:
    """A claim whose line was replaced or taken out no longer holds, by the act of whoever confirmed that."""
    if old.status is Status.REJECTED or not states.may(old.status, Status.SUPERSEDED, states.whose(actor)):
        return old
    reason = _TAKEN_OUT if taken_out else _REPLACED
    if not states.move(tx, old, Status.SUPERSEDED, actor=actor, reason=reason, now=now):
        return old
    tx.run("UPDATE claim SET superseded_by = NULL WHERE id = :id", id=old.id)
    return replace(old, status=Status.SUPERSEDED, superseded_by=None)


def _confirmed_by(tx: Tx, claim: Claim) -> Clean:
    """Who confirmed it."""
    rows = tx.all(
        "SELECT actor FROM review WHERE target_id = :id AND new_status = 'confirmed' ORDER BY created_at DESC, id DESC",
        id=claim.id,
    )
    return rows[0][0] if rows else states.RULES


def words_of(line: Clean) -> Clean:
    """A line of a page without its marks."""
    return squeeze(reworded(CITES.sub("", line), line))
