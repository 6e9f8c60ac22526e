"""What a person confirmed in one project, proposed as a candidate in another one that has met the same.

Alike are: the signature of an error, a dependency of both that the claim gives an attribute of, or a subject and an
attribute that both speak of. Lent are confirmed facts, decisions and external claims that hold everywhere; never from a
private project, never what was borrowed itself. A candidate copies no text of a message or document: it names the
origin, gives the value in its normal form, and leads to the origin's claim, whose citations are its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge import superseding
from flywheel.knowledge.across.dependencies import normal_name
from flywheel.knowledge.normal import normal_value
from flywheel.knowledge.parts import CAUSE, FIX, PARTS, STATES, SYMPTOM
from flywheel.knowledge.statements import parse
from flywheel.model import GLOBAL, Borrowed, Claim, ClaimType, Clean, Entry, EntryId, Project, ProjectId, Status
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import find
from flywheel.text.compose import reworded
from flywheel.text.signatures import class_of, mark_of

ERROR, DEPENDENCY, SUBJECT = "error", "dependency", "subject"
"""What two projects have in common."""

LENT: Final = (ClaimType.FACT, ClaimType.DECISION, ClaimType.EXTERNAL)
"""Types that may be worth something elsewhere; judgments and hypotheses are their project's own."""

MOST: Final = 2000
"""Confirmed claims of one project that are looked at, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The projects: each with its aliases, the canonical one first."""

    rows: Mapping[ProjectId, Project]
    families: Mapping[ProjectId, Sequence[ProjectId]]
    canonical: Mapping[ProjectId, ProjectId]

    def private(self, id: ProjectId) -> bool:
        """Whether nothing of a project is told elsewhere: it, or one that was merged into it, is private."""
        return any(self.rows[one].private for one in self.families[self.canonical[id]])

    def of(self, ids: Collection[ProjectId]) -> list[ProjectId]:
        """These projects with their aliases."""
        return [one for id in sorted(ids) for one in self.families[id]]


def house_of(tx: Tx) -> House:
    """Every project but the global one."""
    told = find(tx, Project, "WHERE id <> :everywhere ORDER BY created_at, id", everywhere=GLOBAL)
    rows = {one.id: one for one in told}
    canonical = {id: _canonical(rows, id) for id in rows}
    families: dict[ProjectId, list[ProjectId]] = defaultdict(list)
    for id in sorted(rows, key=lambda id: (canonical[id] != id, id)):
        families[canonical[id]].append(id)
    return House(rows=rows, families=families, canonical=canonical)


def _canonical(rows: Mapping[ProjectId, Project], id: ProjectId) -> ProjectId:
    seen = {id}
    while (to := rows[id].alias_of) is not None and to in rows and to not in seen:
        seen.add(to)
        id = to
    return id


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """A confirmed claim, and a project that it may be worth something to."""

    claim: Claim
    entry: Entry  # the claim's
    origin: Project
    target: ProjectId  # canonical
    kind: str
    attribute: Clean = Clean("")
    value: Clean = Clean("")
    mark: str = ""  # of an error
    error: Clean = Clean("")  # its class


def loans(tx: Tx, house: House, origins: Collection[ProjectId], targets: Collection[ProjectId]) -> list[Loan]:
    """What of the origins' confirmed claims matches something of the targets; each claim once for each target."""
    found: dict[tuple[str, ProjectId], Loan] = {}
    for origin in sorted(origins):
        others = [target for target in targets if target != origin]
        if house.private(origin) or not others:
            continue
        claims = confirmed(tx, house.families[origin])
        entries = _entries(tx, claims)
        for match in (_errors, _dependencies, _subjects):
            for loan in match(tx, house, house.rows[origin], claims, entries, others):
                found.setdefault((loan.claim.id, loan.target), loan)
    return list(found.values())


_CONFIRMED: Final = """
WHERE project_id IN :projects AND status = 'confirmed' AND valid_until IS NULL AND scope = '' AND type IN :types
AND id NOT IN (SELECT claim_id FROM borrowed WHERE project_id IN :projects)
AND entry_id IN (SELECT id FROM entry WHERE project_id IN :projects AND status = 'confirmed')
ORDER BY recorded_at DESC, id LIMIT :most
"""


def confirmed(tx: Tx, projects: Sequence[ProjectId]) -> list[Claim]:
    """The claims of a project that may be lent."""
    return find(tx, Claim, _CONFIRMED, projects=list(projects), types=[one.value for one in LENT], most=MOST)


def _entries(tx: Tx, claims: Sequence[Claim]) -> Mapping[EntryId, Entry]:
    ids = sorted({claim.entry_id for claim in claims})
    return {entry.id: entry for some in chunks(ids) for entry in find(tx, Entry, "WHERE id IN :ids", ids=list(some))}


def _errors(
    tx: Tx, house: House, origin: Project, claims: Sequence[Claim], entries: Mapping[EntryId, Entry],
    targets: Sequence[ProjectId],
) -> Iterator[Loan]:  # fmt: skip
    """The fix, or else the cause, of an error whose signature a target has met."""
    answers: dict[EntryId, Claim] = {}
    for claim in claims:
        known = answers.get(claim.entry_id)
        if claim.attribute in (FIX, CAUSE) and (known is None or known.attribute == CAUSE):
            answers[claim.entry_id] = claim
    lines: dict[str, tuple[EntryId, str]] = {}
    for some in chunks(sorted(answers)):
        told = find(tx, Claim, "WHERE entry_id IN :ids AND attribute = :part AND status <> 'rejected' ORDER BY id",
                    ids=list(some), part=SYMPTOM)  # fmt: skip
        for claim in told:
            for line in claim.text.splitlines():
                lines.setdefault(mark_of(line), (claim.entry_id, line))
    lines.pop("", None)
    for project, mark in met(tx, house, targets, ERROR, sorted(lines)):
        id, line = lines[mark]
        claim = answers[id]
        yield Loan(
            claim=claim, entry=entries[id], origin=origin, target=project, kind=ERROR, mark=mark,
            error=reworded(class_of(line), claim.text),
        )  # fmt: skip


def met(
    tx: Tx, house: House, projects: Sequence[ProjectId], kind: str, names: Sequence[str]
) -> Iterator[tuple[ProjectId, str]]:
    """(canonical project, name) of what these projects have met of these names, each once."""
    found: dict[tuple[ProjectId, str], None] = {}
    for some in chunks(names):
        rows = tx.all(
            "SELECT project_id, name FROM met WHERE project_id IN :projects AND kind = :kind AND name IN :names"
            " ORDER BY project_id, name",
            projects=house.of(projects),
            kind=kind,
            names=list(some),
        )
        found.update(dict.fromkeys((house.canonical[ProjectId(project)], name) for project, name in rows))
    yield from found


def said(claim: Claim) -> tuple[str, str]:
    """(attribute, value) that a claim gives of its subject, in normal form; empty where it gives none."""
    if claim.attribute not in PARTS:
        return claim.attribute, normal_value(claim.value)
    if claim.attribute != STATES or not claim.subject:
        return "", ""
    attribute = superseding.attribute_of(claim)
    parsed = parse(claim.text)
    value = parsed.value if parsed is not None and parsed.subject == claim.subject else normal_value(claim.value)
    return (attribute, value) if attribute and value else ("", "")


def _loan(claim: Claim, entry: Entry, origin: Project, target: ProjectId, kind: str) -> Loan:
    attribute, value = said(claim)
    return Loan(
        claim=claim, entry=entry, origin=origin, target=target, kind=kind,
        attribute=reworded(attribute, claim.text), value=reworded(value, claim.text),
    )  # fmt: skip


def _dependencies(
    tx: Tx, house: House, origin: Project, claims: Sequence[Claim], entries: Mapping[EntryId, Entry],
    targets: Sequence[ProjectId],
) -> Iterator[Loan]:  # fmt: skip
    """An attribute of something that both projects depend on, by their manifests."""
    about: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.subject and said(claim)[0]:
            about[normal_name(claim.subject.replace(" ", "-"))].append(claim)
    mine = {name for _, name in met(tx, house, [origin.id], DEPENDENCY, sorted(about))}
    for project, name in met(tx, house, targets, DEPENDENCY, sorted(mine)):
        known = _known(tx, house, project, [claim.subject for claim in about[name]])
        for claim in about[name]:
            if said(claim)[1] not in known.get((claim.subject, said(claim)[0]), ()):
                yield _loan(claim, entries[claim.entry_id], origin, project, DEPENDENCY)


def _subjects(
    tx: Tx, house: House, origin: Project, claims: Sequence[Claim], entries: Mapping[EntryId, Entry],
    targets: Sequence[ProjectId],
) -> Iterator[Loan]:  # fmt: skip
    """Another value of a subject's attribute that a target speaks of, too."""
    about = [(claim, *said(claim)) for claim in claims if claim.subject]
    about = [one for one in about if one[1]]
    for project in targets if about else ():
        known = _known(tx, house, project, [claim.subject for claim, _, _ in about])
        for claim, attribute, value in about:
            values = known.get((claim.subject, attribute), ())
            if values and value not in values:
                yield _loan(claim, entries[claim.entry_id], origin, project, SUBJECT)


def _known(
    tx: Tx, house: House, project: ProjectId, subjects: Sequence[Clean]
) -> Mapping[tuple[str, str], Collection[str]]:
    """What a project says of subjects itself: (subject, attribute) → values."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for some in chunks(sorted(set(subjects))):
        rows = find(
            tx,
            Claim,
            "WHERE project_id IN :projects AND subject IN :subjects AND status <> 'rejected'"
            " AND id NOT IN (SELECT claim_id FROM borrowed WHERE project_id IN :projects) ORDER BY id LIMIT :most",
            projects=list(house.families[project]),
            subjects=list(some),
            most=MOST,
        )
        for claim in rows:
            attribute, value = said(claim)
            if attribute:
                found[claim.subject, attribute].add(value)
    return found


def fallen(house: House, one: Borrowed, claim: Claim | None, entry: Entry | None) -> bool:
    """Whether what a borrowed claim rests on does not hold any more where it was confirmed."""
    if claim is None or entry is None or one.origin_project not in house.rows:
        return True
    held = claim.status in (Status.CONFIRMED, Status.STALE) and claim.valid_until is None
    return not held or entry.status not in (Status.CONFIRMED, Status.STALE)
