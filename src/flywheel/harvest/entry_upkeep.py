"""Keeping an entry in step with its claims: page, evidence, dates, and what becomes of its status.

What a person confirmed or rejected stays as it is; code only takes a candidate out when its words were taken back or
replaced, and back in when they are said anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flywheel.harvest.rules import Draft
from flywheel.harvest.rules.page import main_claim, page_of
from flywheel.model import (
    Category,
    Claim,
    ClaimType,
    Clean,
    Entry,
    EntryId,
    EntryVersion,
    Micros,
    Review,
    Role,
    Status,
    evidence_id,
    new_id,
)
from flywheel.store import Tx
from flywheel.store.json import dump
from flywheel.store.mapper import find, insert, insert_many
from flywheel.text.compose import fixed

RULES: Final = fixed("rules")
"""The actor of what code decides."""

_TAGS: Final = 6


def refresh(tx: Tx, entry: Entry, draft: Draft | None, now: Micros) -> None:
    """Bring an entry up to date with its claims: page, evidence, dates, status. A person's decision stays."""
    claims = find(tx, Claim, "WHERE entry_id = :id ORDER BY said_at, id", id=entry.id)
    main = main_claim(claims)
    if main is None:
        return
    page = page_of(claims)
    after = replace(
        entry,
        type=_type(main, entry),
        summary=page.summary,
        body=page.body,
        evidence=_sessions(tx, entry.id),
        updated_at=Micros(max(claim.said_at for claim in claims)),
        created_at=Micros(min(claim.said_at for claim in claims)),
    )
    if draft is not None:
        mine = draft.role is Role.USER and draft.statement == main.text
        after = replace(
            after,
            title=draft.title if mine else entry.title,
            tags=_tags(entry.tags, draft.tags),
            score=max(entry.score, draft.score),
        )
    if entry.status is Status.CONFIRMED:
        after = replace(entry, evidence=after.evidence)
    _keep_version(tx, entry, after, now)
    _store(tx, after)
    stated = any(claim.attribute == main.attribute and claim.status is not Status.SUPERSEDED for claim in claims)
    _restate(tx, after, stated=stated, now=now)


def _store(tx: Tx, entry: Entry) -> None:
    """Write what rules may change of an entry; never its status, which a person may be changing now."""
    tx.run(
        "UPDATE entry SET type = :type, title = :title, summary = :summary, body = :body, tags = :tags, score = :score,"
        " evidence = :evidence, created_at = :created, updated_at = :updated WHERE id = :id",
        type=entry.type,
        title=entry.title,
        summary=entry.summary,
        body=entry.body,
        tags=dump(entry.tags),
        score=entry.score,
        evidence=entry.evidence,
        created=entry.created_at,
        updated=entry.updated_at,
        id=entry.id,
    )


def _restate(tx: Tx, entry: Entry, *, stated: bool, now: Micros) -> None:
    """A candidate whose every statement was taken back is superseded; one that rules superseded and that is said anew
    is a candidate again."""
    if entry.status is Status.CANDIDATE and not stated:
        status, reason = Status.SUPERSEDED, fixed("taken back")
    elif entry.status is Status.SUPERSEDED and stated and not _decided(tx, entry):
        status, reason = Status.CANDIDATE, fixed("said again")
    else:
        return
    if tx.run(
        "UPDATE entry SET status = :new WHERE id = :id AND status = :old", id=entry.id, new=status, old=entry.status
    ):
        record(tx, entry, status, reason, now)


def _decided(tx: Tx, entry: Entry) -> bool:
    """Whether a person ever decided about an entry."""
    return (
        tx.one("SELECT 1 FROM review WHERE target_id = :id AND actor <> :rules", id=entry.id, rules=RULES) is not None
    )


def _type(main: Claim, entry: Entry) -> ClaimType:
    return main.type if entry.category in (Category.DEBUGGING, Category.KNOWLEDGE) else entry.type


def _tags(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))[:_TAGS]


def _sessions(tx: Tx, entry: EntryId) -> int:
    """How many sessions say it; a subagent's counts as its parent's."""
    row = tx.one(
        "SELECT COUNT(DISTINCT COALESCE(s.parent_id, s.id)) FROM claim k JOIN session s ON s.id = k.session_id"
        " WHERE k.entry_id = :id",
        id=entry,
    )
    return max(1, row[0] if row is not None else 1)


def _keep_version(tx: Tx, before: Entry, after: Entry, now: Micros) -> None:
    """Keep how a page read before it is rewritten."""
    old, new = (before.title, before.summary, before.body), (after.title, after.summary, after.body)
    if before.body and old != new:
        id = evidence_id("version", before.id, *old)
        version = EntryVersion(
            id=id,
            project_id=before.project_id,
            entry_id=before.id,
            title=before.title,
            summary=before.summary,
            body=before.body,
            created_at=now,
        )
        insert_many(tx, [version])


def record(tx: Tx, entry: Entry, status: Status, reason: Clean, now: Micros) -> None:
    """Note that code gave an entry another status, and why."""
    insert(
        tx,
        Review(
            id=new_id(now),
            project_id=entry.project_id,
            kind="entry",
            target_id=entry.id,
            old_status=entry.status.value,
            new_status=status.value,
            actor=RULES,
            reason=reason,
            created_at=now,
        ),
    )
