"""Edges that rules propose between pages: what shares names relates, what a statement says to be needed comes first.

A page may be needed before anybody has written it: what is needed is kept as a link (``needs``; ``first`` for whom it
is needed) and met when the page comes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from flywheel.knowledge.needing import Need, needs
from flywheel.model import Claim, Clean, Edge, EdgeKind, Entry, EntryId, EntryLink, Kind, Micros, ProjectId, Status
from flywheel.projects import queries as projects
from flywheel.search.naming import KnownNames, mentioned
from flywheel.store import Tx
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import fixed, join, reworded
from flywheel.text.phrases import subjects_in

MOST: Final = 8
"""``relates_to`` edges that a new entry gets; the strongest."""

CROWDED: Final = 24
"""An entry with so many of them gets no more."""

MOST_NEEDED: Final = 6
"""Prerequisites that one entry's statements are given."""

AWAITED: Final = 12
"""Names under which what is needed is kept, until a page of that name comes."""

LONGEST_AWAITED: Final = 3
"""Words of such a name."""

MOST_WAITING: Final = 100
"""Entries that are looked at when something gets a name; the newest."""

MOST_TOLD: Final = 500
"""Statements of a project, the newest, in which the subject of a new page is looked for."""

NEEDS, FIRST = "needs", "first"
"""Kinds of links: what an entry says to be needed, and for whom it says what comes first."""

_COMMON: Final = 120  # entries that share a name past which the name says nothing
_WEAKEST: Final = 0.45
_WEIGHTS: Final = {"file": 3.0, "symbol": 3.0, "subject": 1.2}
_OUT: Final = (Status.REJECTED.value, Status.SUPERSEDED.value)


class Named(Protocol):
    """A link that an entry has."""

    @property
    def kind(self) -> str:
        """file, symbol or subject."""

    @property
    def name(self) -> Clean:
        """What it is called."""


def relate(tx: Tx, entry: Entry, links: Iterable[Named], now: Micros) -> int:
    """Tie an entry to the entries that share these links of it, rarer names weighing more; how many edges are new."""
    strength: dict[str, float] = defaultdict(float)
    shared: dict[str, list[Named]] = defaultdict(list)
    for link in links:
        rows = tx.all(
            "SELECT l.entry_id FROM entry_link l WHERE l.project_id = :project AND l.kind = :kind AND l.name = :name"
            " AND l.entry_id <> :id ORDER BY l.entry_id DESC LIMIT :limit",
            project=entry.project_id,
            kind=link.kind,
            name=link.name,
            id=entry.id,
            limit=_COMMON,
        )
        for (other,) in rows if len(rows) < _COMMON else ():
            strength[other] += _WEIGHTS[link.kind] / math.log2(2 + len(rows))
            shared[other].append(link)
    best = sorted((other for other in strength if strength[other] >= _WEAKEST), key=lambda id: (-strength[id], id))
    return sum(_tie(tx, entry, other, shared[other], now) for other in _free(tx, entry.id, best))


def _free(tx: Tx, entry: EntryId, others: Sequence[str]) -> list[str]:
    """The strongest of these that are neither tied to the entry already, nor crowded, nor rejected."""
    mine = tx.all(
        "SELECT source_id, target_id FROM edge WHERE source_id = :id UNION ALL"
        " SELECT source_id, target_id FROM edge WHERE target_id = :id",
        id=entry,
    )
    tied = {id for row in mine for id in row}
    room = MOST - sum(1 for source, _ in mine if source == entry)
    some = [id for id in others if id not in tied][: 4 * MOST]
    if room <= 0 or not some:
        return []
    rejected = {id for (id,) in tx.all("SELECT id FROM entry WHERE id IN :ids AND status = 'rejected'", ids=some)}
    counted = tx.all("SELECT target_id, COUNT(*) FROM edge WHERE target_id IN :ids GROUP BY target_id", ids=some)
    degree: dict[str, int] = dict(counted)
    return [id for id in some if id not in rejected and degree.get(id, 0) < CROWDED][:room]


def _tie(tx: Tx, entry: Entry, other: str, links: Sequence[Named], now: Micros) -> int:
    names = join((link.name for link in links[:3]), ", ")
    return edge(tx, entry, EntryId(other), EdgeKind.RELATES_TO, now, join((fixed("both speak of"), names)))


def edge(tx: Tx, source: Entry, target: EntryId, kind: EdgeKind, now: Micros, reason: Clean) -> int:
    """Insert an edge unless it is there; how many are new."""
    made = Edge(
        project_id=source.project_id, source_id=source.id, target_id=target, kind=kind, reason=reason, created_at=now
    )
    return insert_many(tx, [made])


def relate_page(tx: Tx, id: EntryId, claims: Sequence[Claim], now: Micros) -> int:
    """Tie the page of a subject to the pages of other subjects that its statements name; how many edges are new."""
    entry = get(tx, Entry, id=id)
    if entry is None:
        return 0
    made = settle_needs(tx, entry, claims, now)
    said = {name: claim.text for claim in claims for name in subjects_in(claim.text) if name != entry.subject}
    others = _about(tx, entry, list(said))
    free = _free(tx, entry.id, [other for _, other in others])
    names = {other: reworded(name, said[name]) for name, other in others}
    made += sum(_speak(tx, entry, EntryId(other), names[other], now) for other in free)
    return made + _meet_named(tx, entry, claims, now)


def _speak(tx: Tx, entry: Entry, other: EntryId, name: Clean, now: Micros) -> int:
    return edge(tx, entry, other, EdgeKind.RELATES_TO, now, join((fixed("speaks of"), name)))


def _meet_named(tx: Tx, entry: Entry, claims: Sequence[Claim], now: Micros) -> int:
    """Tie to a page that has just come the pages whose statements named its subject before; how many edges are new."""
    (count,) = tx.one("SELECT COUNT(*) FROM claim WHERE entry_id = :id", id=entry.id) or (0,)
    if not entry.subject or count > len(claims):
        return 0
    bare = entry.subject.removesuffix("y").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = tx.all(_NAMED, projects=list(projects.family(tx, entry.project_id)), id=entry.id, out=_OUT,
                  look=MOST_TOLD, name=f"%{bare}%", most=CROWDED)  # fmt: skip
    made = 0
    for id, text in rows:
        names, other = subjects_in(text), get(tx, Entry, id=id)
        if other is None or other.status.value in _OUT or (entry.subject, entry.id) not in _about(tx, other, [*names]):
            continue
        if other.subject != entry.subject and _free(tx, other.id, [entry.id]):
            made += _speak(tx, other, entry.id, entry.subject, now)
            tx.changed(Kind.ENTRY, other.id, other.project_id)
    return made


def settle_needs(tx: Tx, entry: Entry, claims: Sequence[Claim], now: Micros) -> int:
    """Tie an entry to what its statements say must come first, and to what said so of it; how many edges are new.

    Idempotent, and the same whatever came first.
    """
    made = 0
    for claim in claims:
        for need in needs(claim.text) if claim.status.value not in _OUT else ():
            _await(tx, entry, claim, need)
            made += _meet(tx, entry, claim, need, now)
    for other in _waiting(tx, entry):
        made += meet_needs(tx, other, now)
    return made


def meet_needs(tx: Tx, entry: Entry, now: Micros) -> int:
    """Tie an entry to what its statements say must come first and is there now; how many edges are new."""
    claims = find(tx, Claim, "WHERE entry_id = :id AND status NOT IN :out ORDER BY said_at, id", id=entry.id, out=_OUT)
    return sum(_meet(tx, entry, claim, need, now) for claim in claims for need in needs(claim.text))


def meet_waiting(tx: Tx, project: ProjectId, now: Micros) -> int:
    """Tie what waits in a project for something that has a name now; how many edges are new."""
    ids = "SELECT entry_id FROM entry_link WHERE project_id IN :projects AND kind = :kind"
    where = f"WHERE id IN ({ids}) AND status NOT IN :out ORDER BY id DESC LIMIT :most"
    family = list(projects.family(tx, project))
    found = find(tx, Entry, where, projects=family, kind=NEEDS, out=_OUT, most=MOST_WAITING)
    return sum(meet_needs(tx, entry, now) for entry in found)


def _await(tx: Tx, entry: Entry, claim: Claim, need: Need) -> None:
    """Keep what is needed, and for whom, so that pages which come later are met."""
    for kind, words in ((NEEDS, need.what), (FIRST, need.who)):
        links = [
            EntryLink(project_id=entry.project_id, entry_id=entry.id, kind=kind, name=reworded(name, claim.text))
            for name in _awaited(words)
        ]
        insert_many(tx, links)


def _awaited(words: str) -> list[str]:
    """The names that words may be for: short ones, from their beginning on."""
    found = subjects_in(words)
    short = [name for name in found if len(name.split()) <= LONGEST_AWAITED]
    return sorted(short, key=lambda name: (found[name], name))[:AWAITED]


def _waiting(tx: Tx, entry: Entry) -> list[Entry]:
    """What says of this page's subject that it is needed, or what it needs."""
    if not entry.subject:
        return []
    ids = (
        "SELECT entry_id FROM entry_link WHERE project_id IN :projects AND kind IN :kinds AND name = :name"
        " AND entry_id <> :id"
    )
    return find(
        tx,
        Entry,
        f"WHERE id IN ({ids}) AND status NOT IN :out ORDER BY id LIMIT :most",
        projects=list(projects.family(tx, entry.project_id)),
        kinds=[NEEDS, FIRST],
        name=entry.subject,
        id=entry.id,
        out=_OUT,
        most=CROWDED,
    )


def _meet(tx: Tx, entry: Entry, claim: Claim, need: Need, now: Micros) -> int:
    """The edges that one statement proposes: from whom needs to what is needed.

    A statement of what is done first is itself what must be known, where what it names has no page; one that tells of
    somebody's needs is itself in need.
    """
    who, what = _pages(tx, entry, need.who), _pages(tx, entry, need.what)
    sources = (who or [entry]) if need.order else [entry, *who]
    targets = what or ([entry] if need.order else [])
    made, reason = 0, join((fixed("needed first:"), reworded(need.what, claim.text)))
    for source in sources:
        for target in targets:
            room = _needed(tx, source.id) < MOST_NEEDED
            if source.id != target.id and room and edge(tx, source, target.id, EdgeKind.PREREQUISITE, now, reason):
                made += 1
                tx.changed(Kind.ENTRY, source.id, source.project_id)
    return made


def _needed(tx: Tx, id: str) -> int:
    sql = "SELECT COUNT(*) FROM edge WHERE source_id = :id AND kind = :kind"
    (count,) = tx.one(sql, id=id, kind=EdgeKind.PREREQUISITE.value) or (0,)
    return int(count)


_ABOUT: Final = """
SELECT l.name, l.entry_id FROM entry_link l JOIN entry e ON e.id = l.entry_id WHERE l.project_id IN :projects
AND l.kind = 'subject' AND l.name IN :names AND e.subject = l.name ORDER BY l.entry_id LIMIT :most
"""


_NAMED: Final = r"""
SELECT entry_id, text FROM (SELECT entry_id, text, status, recorded_at, id FROM claim WHERE project_id IN :projects
ORDER BY recorded_at DESC LIMIT :look) told WHERE entry_id <> :id AND status NOT IN :out
AND LOWER(text) LIKE :name ESCAPE '\' ORDER BY recorded_at, id LIMIT :most
"""


def _pages(tx: Tx, entry: Entry, words: str) -> list[Entry]:
    """The pages that words name, by their subject or by a confirmed term of the glossary; of names the longest.

    Only pages that are about the same part of the world, or all of it.
    """
    family = list(projects.family(tx, entry.project_id))
    ids = {id for _, id in _about(tx, entry, list(subjects_in(words)))}
    terms = mentioned(words, KnownNames(_stems).of(tx, family), _stems, lambda word: True).terms
    shorts = sorted({one.removeprefix("fw:") for term in terms for one in term.targets})
    if shorts:
        ids |= {id for (id,) in tx.all(_SHORT, projects=family, shorts=shorts)}
    wanted = sorted(ids - {entry.id})
    found = find(tx, Entry, "WHERE id IN :ids AND status NOT IN :out AND redirect_to IS NULL ORDER BY id",
                 ids=wanted, out=_OUT) if wanted else []  # fmt: skip
    return [one for one in found if one.scope in ("", entry.scope) or not entry.scope][:MOST_NEEDED]


def _about(tx: Tx, entry: Entry, names: Sequence[str]) -> list[tuple[str, str]]:
    """The pages whose subject is one of these names, with the name; of names within one another the longest."""
    family = list(projects.family(tx, entry.project_id))
    rows = tx.all(_ABOUT, projects=family, names=list(names), most=CROWDED) if names else []
    there = {name for name, _ in rows}
    return [(name, id) for name, id in rows if not any(f" {name} " in f" {other} " for other in there - {name})]


_SHORT: Final = "SELECT id FROM entry WHERE short IN :shorts AND project_id IN :projects ORDER BY id LIMIT 24"


def _stems(word: str) -> Sequence[str]:
    """One word without its plural's ending."""
    return (word.removesuffix("s") if len(word) > 3 else word,)
