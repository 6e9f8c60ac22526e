"""Whether a page is as fresh as when it was confirmed: what has changed of that which it rests on makes it stale.

The reasons are the notes of its anchors; the page's own column repeats them, so that whoever shows it need not look.
Code marks stale, and takes back only what it marked: a page whose code, documents and pages read again as they did when
a person confirmed it is confirmed again, as of that day. A confirmation is a person's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from flywheel.knowledge import states
from flywheel.knowledge.anchor_rules import told
from flywheel.knowledge.anchors import DOCUMENT, EVIDENCE
from flywheel.knowledge.conflict import DAY
from flywheel.knowledge.judging import Judged
from flywheel.knowledge.states import RULES
from flywheel.model import (
    Anchor,
    Claim,
    Clean,
    DocumentHead,
    Entry,
    EntryId,
    Kind,
    Micros,
    ProjectId,
    Role,
    Status,
    short_id,
)
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import cite, dated, fixed, join, reworded
from flywheel.text.quotations import is_quoted

SHOWN: Final = 3
"""Reasons that a page gives; more are counted."""

_OVER: Final = fixed("what had changed is as it was")
_AGAIN: Final = fixed("and is as it was again")
_MORE: Final = fixed("and more has changed")
AGED: Final = fixed("it was not confirmed again within the freshness threshold of its shelf")
"""Why a page is marked stale that was not confirmed for too long: what it rests on has no part in that."""

_FADED: Final = (Status.REJECTED, Status.SUPERSEDED)
_MARKED: Final = (Status.CANDIDATE, Status.CONFIRMED)  # claims


def settle(tx: Tx, entry: Entry, *, actor: Clean, now: Micros) -> bool:
    """Give an entry the state that its anchors' notes ask for; whether it has changed.

    A disputed one stays disputed, so that both values are shown, and says besides what has changed. So does a confirmed
    one of which nobody knows since when: stale, it would count as never confirmed.
    """
    notes = _notes(tx, entry)
    if not notes:
        return bool(entry.stale_reason) and _as_it_was(tx, entry, actor=actor, now=now)
    reason = join([*notes[:SHOWN], *([_MORE] if len(notes) > SHOWN else [])], "; ")
    marked = entry.status is Status.CANDIDATE or (entry.status is Status.CONFIRMED and entry.last_confirmed is not None)
    moved = marked and states.move(tx, entry, Status.STALE, actor=RULES, reason=reason, now=now)
    if entry.stale_reason != reason:
        _say(tx, entry, reason)
    return moved or entry.stale_reason != reason


def _notes(tx: Tx, entry: Entry) -> list[Clean]:
    """What has changed, the latest first; evidence of what fell since does not count."""
    rows = tx.all(
        "SELECT a.note, a.target, a.kind, COALESCE(e.status, 'rejected') FROM anchor a LEFT JOIN entry e"
        " ON e.id = a.target AND a.kind = 'evidence' WHERE a.entry_id = :id AND a.note <> ''"
        " ORDER BY a.based_at DESC, a.kind, a.name",
        id=entry.id,
    )
    told = (note for note, other, kind, status in rows if kind != EVIDENCE or not other or status not in _FADED)
    return list(dict.fromkeys(told))


def _as_it_was(tx: Tx, entry: Entry, *, actor: Clean, now: Micros) -> bool:
    """Nothing speaks against the entry any more."""
    if entry.status is not Status.STALE:
        _say(tx, entry, fixed(""))
        return True
    base = states.decided(tx, [entry.id]).get(entry.id)
    confirmed = base is Status.CONFIRMED or (base is None and entry.last_confirmed is not None)
    new = Status.CONFIRMED if confirmed else Status.CANDIDATE
    if confirmed and _only_sources(tx, entry) and states.unmark(tx, entry, reason=_OVER, now=now):
        _say(tx, entry, fixed(""))
        return True
    who = RULES if states.may(Status.STALE, new, states.By.RULES) else actor
    if states.may(Status.STALE, new, states.whose(who)):
        states.move(tx, entry, new, actor=who, reason=_OVER, now=now)
        _say(tx, entry, fixed(""))
        return True
    if entry.stale_reason.endswith(_AGAIN):
        return False
    _say(tx, entry, join([entry.stale_reason, _AGAIN]))
    return True


def _only_sources(tx: Tx, entry: Entry) -> bool:
    """Whether nothing but what it rests on made it stale: neither its age nor what was said since."""
    mark = states.last_step(tx, entry.id, Status.STALE)
    return mark is not None and mark.reason != AGED and not any(said in entry.stale_reason for said in (_WHAT, _ELSE))


def _say(tx: Tx, entry: Entry, reason: Clean) -> None:
    tx.run("UPDATE entry SET stale_reason = :reason WHERE id = :id", reason=reason, id=entry.id)
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)


def weigh_evidence(tx: Tx, entry: Entry, claims: Sequence[Claim], judged: Iterable[Judged], now: Micros) -> None:
    """Note what was said since the entry was confirmed and gives a confirmed attribute another value."""
    if entry.last_confirmed is None:
        return
    against = _against(entry, claims, judged)
    rows = find(tx, Anchor, "WHERE entry_id = :id AND kind = 'evidence' AND target = ''", id=entry.id)
    before = {str(one.name) for one in rows}
    quoted = _quoted(tx, [id for id in against if id not in before])
    against = {id: note for id, note in against.items() if id not in quoted}
    for name in sorted(before - against.keys()):
        tx.run("DELETE FROM anchor WHERE entry_id = :id AND kind = 'evidence' AND name = :name", id=entry.id, name=name)
    insert_many(tx, [_evidence(entry, id, "", note, now) for id, note in against.items() if id not in before])


def _against(entry: Entry, claims: Sequence[Claim], judged: Iterable[Judged]) -> dict[str, Clean]:
    if not entry.held or entry.last_confirmed is None:
        return {}
    by_id: dict[str, Claim] = {claim.id: claim for claim in claims}
    found: dict[str, Clean] = {}
    for verdict in (one.verdict for one in judged if one.verdict.confirmed):
        lost = [by_id[one.id] for one in verdict.lost if one.id in by_id]
        told = [claim for claim in lost if claim.said_at > entry.last_confirmed and _weighs(claim)]
        for claim in (*(by_id[id] for id in verdict.challengers if id in by_id), *told):
            if claim.recorded_at > entry.last_confirmed and claim.value not in verdict.values:
                found[claim.id] = join(
                    [_WHAT, claim.attribute, cite(short_id(claim.id)), fixed("on"), dated(claim.said_at)]
                )
    return found


def _weighs(claim: Claim) -> bool:
    """Whether a person or a document said it, and not in a draft."""
    return claim.role in (Role.USER, Role.SYSTEM) and claim.rank > 0 and claim.status is not Status.REJECTED


def _is_news(claim: Claim, held: Entry) -> bool:
    """Whether a claim is not of a day before the entry's confirmation: days are what sources are compared by."""
    return held.last_confirmed is None or claim.said_at // DAY >= held.last_confirmed // DAY


_CITED: Final = """
SELECT c.claim_id, c.start, c.stop, COALESCE(m.text, d.text, '') FROM citation c
LEFT JOIN message m ON m.id = c.message_id LEFT JOIN document d ON d.id = c.document_id WHERE c.claim_id IN :ids
"""


def _quoted(tx: Tx, ids: Sequence[str]) -> set[str]:
    """Of these claims those that are nobody's own words: wherever they stand, they stand as a quotation."""
    own: set[str] = set()
    cited: set[str] = set()
    for id, start, stop, text in tx.all(_CITED, ids=list(ids)) if ids else ():
        cited.add(id)
        if not is_quoted(text, start, stop):
            own.add(id)
    return cited - own


_WHAT: Final = fixed("something said since gives another value of")
_ELSE: Final = fixed("something said since contradicts it,")


def _evidence(entry: Entry, id: str, other: str, note: Clean, now: Micros) -> Anchor:
    return Anchor(
        project_id=entry.project_id, entry_id=entry.id, kind=EVIDENCE, name=reworded(id, note),
        target=reworded(other, note), note=note, created_at=now, based_at=now,
    )  # fmt: skip


def contradicted(tx: Tx, one: EntryId, other: EntryId, now: Micros) -> None:
    """Two entries were found to contradict each other: the one that a person confirmed is no longer fresh.

    Only where a person or a document says so, in words of its own and not of a day before the confirmation: what an
    assistant repeats and what a person pastes as a quotation may be a stranger's words, and what is older is no news.
    """
    both = {entry.id: entry for entry in find(tx, Entry, "WHERE id IN :ids", ids=[one, other])}
    for held, against in ((both.get(one), both.get(other)), (both.get(other), both.get(one))):
        if held is None or against is None or not held.held or against.held or against.status in _FADED:
            continue
        claims = find(tx, Claim, "WHERE entry_id = :id", id=against.id)
        news = [one.id for one in claims if _weighs(one) and _is_news(one, held)]
        if not set(news) - _quoted(tx, news):
            continue
        note = join([_ELSE, cite(against.short), fixed("on"), dated(against.updated_at)])
        insert_many(tx, [_evidence(held, against.id, against.id, note, now)])
        settle(tx, held, actor=RULES, now=now)


def faded(tx: Tx, entry: Entry, *, actor: Clean, now: Micros) -> None:
    """An entry fell: what only it spoke against is as fresh as before."""
    rows = find(
        tx,
        Anchor,
        "WHERE project_id = :project AND kind = 'evidence' AND target = :id",
        project=entry.project_id,
        id=entry.id,
    )
    for row in rows:
        held = get(tx, Entry, id=row.entry_id)
        if held is not None:
            settle(tx, held, actor=actor, now=now)


_RESTING: Final = """
SELECT k.id, k.entry_id, c.quote FROM citation c JOIN document d ON d.id = c.document_id JOIN claim k
ON k.id = c.claim_id WHERE d.project_id = :project AND d.path = :path AND k.valid_until IS NULL
AND k.status IN ('confirmed', 'candidate', 'disputed', 'stale') AND k.attribute <> 'edit' ORDER BY k.id, c.id
"""
_ALONE: Final = """
SELECT k.id FROM claim k WHERE k.id IN :ids AND NOT EXISTS (SELECT 1 FROM citation c LEFT JOIN document d
  ON d.id = c.document_id LEFT JOIN document_head h ON h.project_id = d.project_id AND h.path = d.path
  WHERE c.claim_id = k.id AND (c.document_id IS NULL OR h.gone_at IS NULL))
"""


def document_changed(tx: Tx, project: ProjectId, path: Clean, now: Micros) -> int:
    """A document has another version, or is gone or back at its source: how many pages are looked at.

    A page that quotes it is stale where no version of today has the words; one that only names it, where it is another
    text. Of a document that is gone, the claims that rest on it alone are stale, and their pages with them. Idempotent.
    """
    head = get(tx, DocumentHead, project_id=project, path=path)
    if head is None:
        return 0
    gone = head.gone_at is not None
    row = tx.one("SELECT text FROM document WHERE id = :id", id=head.document_id)
    today = _plain(str(row[0])) if row is not None else ""
    quotes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for claim, entry, quote in tx.all(_RESTING, project=project, path=path):
        quotes[entry, claim].append(quote)
    alone = {id for some in chunks(sorted({claim for _, claim in quotes})) for (id,) in tx.all(_ALONE, ids=some)}
    lost: dict[str, list[str]] = defaultdict(list)
    for (entry, claim), said in quotes.items():
        if claim in alone if gone else not any(_plain(quote) in today for quote in said):
            lost[entry].append(claim)
    anchors = find(
        tx, Anchor, "WHERE project_id = :project AND path = :path AND kind = 'document'", project=project, path=path
    )
    for anchor in anchors:
        mine = lost.get(anchor.entry_id, [])
        resting = mine if gone else [claim for entry, claim in quotes if entry == anchor.entry_id and claim not in mine]
        note = _note(anchor, head, len(mine), now, same=_same_text(tx, anchor.hash, head.document_id))
        _noted(tx, anchor, note, resting, gone=gone, now=now)
    return len(anchors)


def _same_text(tx: Tx, one: str, other: str) -> bool:
    """Whether two versions of a document are one text; what was said of them besides does not count."""
    if one == other or not one:
        return True
    rows = tx.all("SELECT DISTINCT sha256 FROM document WHERE id IN :ids", ids=[one, other])
    return len(rows) == 1


def _plain(text: str) -> str:
    return " ".join(text.split())


def _note(anchor: Anchor, head: DocumentHead, lost: int, now: Micros, *, same: bool) -> Clean:
    if anchor.hash:  # the page names it, and rests on nothing in it
        if head.gone_at is not None:
            return told("gone", anchor.path, now)
        return told("document", anchor.path, now) if not same else fixed("")
    if not lost:
        return fixed("")
    if head.gone_at is not None:
        rest = fixed("; statements rest on it alone") if lost > 1 else fixed("; a statement rests on it alone")
        return join([told("gone", anchor.path, head.gone_at), rest], "")
    return join([told("document", anchor.path, now), fixed("and no longer says what is said here")], " ")


def _noted(tx: Tx, anchor: Anchor, note: Clean, resting: Sequence[str], *, gone: bool, now: Micros) -> None:
    """Keep with an anchor what became of a document, and move the claims that rest on it, and the page."""
    if bool(note) != bool(anchor.note):
        tx.run(
            "UPDATE anchor SET note = :note, based_at = :at WHERE entry_id = :id AND kind = :kind AND name = :name",
            note=note, at=now if note else anchor.based_at, id=anchor.entry_id, kind=DOCUMENT, name=anchor.name,
        )  # fmt: skip
    for claim in find(tx, Claim, "WHERE id IN :ids", ids=list(resting)) if resting else ():
        if gone and claim.status in _MARKED:
            states.move(tx, claim, Status.STALE, actor=RULES, reason=note, now=now)
        elif not gone and claim.status is Status.STALE:
            _take_back(tx, claim, now)
    entry = get(tx, Entry, id=anchor.entry_id)
    if entry is not None:
        settle(tx, entry, actor=RULES, now=now)


def _take_back(tx: Tx, claim: Claim, now: Micros) -> None:
    """A claim whose document is back is what it was; what a person confirmed and somebody else marked, a person's."""
    if states.unmark(tx, claim, reason=_OVER, now=now):
        return
    if states.decided(tx, [claim.id]).get(claim.id) is not Status.CONFIRMED:
        states.move(tx, claim, Status.CANDIDATE, actor=RULES, reason=_OVER, now=now)
