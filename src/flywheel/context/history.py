"""The source of conversation history: what the prompt recalls, or where the last sessions ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.api import Hit
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, newest_of, shorten
from flywheel.context.digests import Summed, lapsed, levels, project_piece, sums_of
from flywheel.context.relevance import session_relevance
from flywheel.context.telling import Told, says
from flywheel.model import Micros, SessionId, short_id
from flywheel.store import Db, Tx
from flywheel.store.json import load as load_json

FEWEST, MOST, TOKENS_A_SESSION = 3, 18, 80
"""A briefing tells of one more session by itself with every so many tokens."""

LOOKED: Final = 40
"""The newest sessions of a project, subagents' included, among which they are looked for."""

WORDS: Final = 4
"""Of how many the last words are told."""

OPEN: Final = ("failed", "abandoned", "unclear")
"""Outcomes that leave something open."""

WHOLE: Final = 280
"""Characters up to which a message is told whole or not at all: the head of a short one says little."""

SESSIONS: Final = 40
"""Sessions of one prompt's messages whose files are looked up."""

NAMES, LONGEST = 3, 80
"""Files or commands beside a message, and characters of one."""

COVERED: Final = 0.6
"""An entry that quotes this part of a message stands for it; of a longer one it tells a detail."""

FAILED: Final = 1 / 3
"""The part of its tool calls that failed from which that is told of a session that came to its end."""

NAMED: Final = 48
"""Characters of a session's task where an entry tells all of it."""

FELL: Final = 60
"""Characters of words that no longer hold, as they are named."""

_SAYS: Final = {"user": "user", "assistant": "assistant", "tool": "tool"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSession:
    """One past session as the briefing tells it."""

    id: SessionId
    agent: str
    title: str
    branch: str
    at: Micros
    task: str
    outcome: str  # "" where no retrospective was made yet
    calls: int
    errors: int

    @property
    def open_end(self) -> bool:
        """Whether it ended with something left to do."""
        return self.outcome in OPEN


class HistorySource:
    """Messages that the prompt recalls; without a prompt, the last sessions of the project."""

    name = "history"

    def __init__(self, db: Db) -> None:
        self._db = db

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """Past messages or sessions, none of the asking session itself."""
        if ask.query:
            found = ask.found().hits
            with self._db.read() as tx:
                own = {row[0] for row in tx.all("SELECT id FROM session WHERE native_id = :native", native=ask.session)}
                quoted = _quoted(tx, [*ask.exclude, *(hit.id for hit in found if hit.kind == "entry")])
            told = {hit.id for hit in found if quoted.get(hit.id, 0) >= COVERED * max(len(hit.text), 1)}
            hits = [hit for hit in found if hit.kind in ("message", "document") and hit.id not in told]
            best = max((hit.score for hit in hits), default=0.0)
            hits = [hit for hit in hits if hit.id not in ask.exclude and hit.session_id not in own and _worth(hit)]
            with self._db.read() as tx:
                there, fell = _worked_on(tx, hits), lapsed(tx, [hit.id for hit in hits if hit.kind == "message"])
            return [
                _hit_piece(
                    ask,
                    hit,
                    hit.score / best if best > 0 else 0.0,
                    there.get(hit.id, ""),
                    _fell(fell.get(hit.id, ()), hit.text),
                )
                for hit in hits
            ]
        with self._db.read() as tx:
            sessions = last_sessions(tx, ask)
            sums = sums_of(tx, [one.id for one in sessions])
            asked = _last_words(tx, [one.id for one in sessions[:WORDS] if one.id not in sums])
            pieces = [_session_piece(ask, one, asked.get(one.id, ("", "")), sums.get(one.id)) for one in sessions]
            earlier = project_piece(tx, ask, beside=pieces)
        return [*pieces, *([earlier] if earlier else [])]


def _quoted(tx: Tx, entries: Sequence[str]) -> Mapping[str, int]:
    """Of how many characters these entries cite messages: who is told the entry need not be told its source again."""
    sql = (
        "SELECT c.message_id, MAX(c.stop - c.start) FROM claim k JOIN citation c ON c.claim_id = k.id "
        "WHERE k.entry_id IN :entries AND c.message_id IS NOT NULL GROUP BY c.message_id"
    )
    return dict(tx.all(sql, entries=entries[:500])) if entries else {}


def _worth(hit: Hit) -> bool:
    """Whether what is recalled says anything."""
    return hit.kind != "message" or len(hit.text) > WHOLE or says(hit.text)


def _fell(quotes: Sequence[str], text: str) -> str:
    """What must be known of a message that was decided otherwise since; of a longer one the words that fell."""
    whole = any(len(quote) >= COVERED * len(text) for quote in quotes)
    return "no longer holds" if whole else f"no longer holds: “{shorten(quotes[0], FELL)}”" if quotes else ""


def _worked_on(tx: Tx, hits: Sequence[Hit]) -> Mapping[str, str]:
    """By the best message of each session: the files that it came to, and the commands that it found to work."""
    first: dict[str, str] = {}
    for hit in hits:
        if hit.kind == "message" and hit.session_id:
            first.setdefault(hit.session_id, hit.id)
    if not first:
        return {}
    rows = tx.all("SELECT session_id, facts FROM retrospective WHERE session_id IN :ids", ids=list(first)[:SESSIONS])
    return {first[session]: told for session, facts in rows if (told := _came_to(load_json(facts)))}


def _came_to(facts: Mapping[str, object]) -> str:
    """For example: files: src/a.py; works: `make check`. Nothing where nothing is known."""
    known = (("files", _names(facts, "edited") or _names(facts, "read")), ("works", _names(facts, "found")))
    return "; ".join(f"{head}: {', '.join(names[:NAMES])}" for head, names in known if names)


def _names(facts: Mapping[str, object], key: str) -> list[str]:
    found = facts.get(key)
    names = [" ".join(str(one).split()) for one in found] if isinstance(found, (list, tuple)) else []
    return [name for name in names if len(name) <= LONGEST]


def last_sessions(tx: Tx, ask: Ask) -> list[LastSession]:
    """The project's last sessions that are not subagents', not the asking one and not excluded, newest first."""
    newest = newest_of(
        "session",
        "id, agent, native_id, parent_id, title, branch, last_at, messages",
        "last_at",
        len(ask.projects),
        LOOKED,
    )
    rows = tx.all(
        "SELECT s.id, s.agent, s.title, s.branch, s.last_at, r.task, r.outcome, r.tool_calls, r.tool_errors "
        f"FROM ({newest}) AS s LEFT JOIN retrospective r ON r.session_id = s.id "
        "WHERE s.parent_id IS NULL AND s.native_id <> :own AND s.messages > 0 ORDER BY s.last_at DESC LIMIT :many",
        own=ask.session,
        many=max(FEWEST, min(ask.budget // TOKENS_A_SESSION, MOST)),
        **{f"p{number}": project for number, project in enumerate(ask.projects)},
    )
    found = [
        LastSession(
            id=row[0],
            agent=row[1],
            title=row[2],
            branch=row[3],
            at=row[4],
            task=row[5] or "",
            outcome=row[6] or "",
            calls=row[7] or 0,
            errors=row[8] or 0,
        )
        for row in rows
    ]
    return [one for one in found if one.id not in ask.exclude]


def _last_words(tx: Tx, sessions: Sequence[SessionId]) -> dict[str, tuple[str, str]]:
    """The last prompt and the last reply of each session, without what its agent took back."""
    if not sessions:
        return {}
    last = (
        "(SELECT SUBSTR(m.text, 1, 800) FROM message m WHERE m.session_id = s.id AND m.kind = '{}' AND NOT EXISTS "
        "(SELECT 1 FROM retraction r WHERE r.message_id = m.id) ORDER BY m.ordinal DESC LIMIT 1)"
    )
    sql = f"SELECT s.id, {last.format('prompt')}, {last.format('reply')} FROM session s WHERE s.id IN :sessions"
    rows = tx.all(sql, sessions=list(sessions))
    return {id: (prompt or "", reply or "") for id, prompt, reply in rows}


def _session_piece(
    ask: Ask, one: LastSession, words: tuple[str, str], summed: Summed | None, told: Told | None = None
) -> Piece:
    prompt, reply = (shorten(text, 240) for text in words)
    task = shorten(one.task or one.title or prompt, 120) or "a session without a task"
    if told and told.repeats(task):
        task = shorten(task, NAMED)
    outcome = {"": "", "unclear": ", outcome unclear"}.get(one.outcome, f", {one.outcome}")
    many = one.errors >= (FAILED if one.outcome == "done" else 0.0) * one.calls
    errors = f", {one.errors} of {one.calls} tool calls failed" if one.errors and one.calls and many else ""
    head = f"- [fw:{short_id(one.id)}] {task} ({one.agent} session, {day(one.at)}{outcome}{errors})"
    asked = f"{head}\n    Last asked: {prompt}" if prompt and prompt != task else ""
    relevance = session_relevance(
        at=one.at,
        now=ask.now,
        open_end=one.open_end,
        same_branch=bool(one.branch) and one.branch == ask.branch,
        overlap=ask.overlap(f"{one.title} {one.task}"),
    )
    return ask.piece(
        kind="session",
        id=one.id,
        short=short_id(one.id),
        relevance=relevance,
        texts=levels(head, summed, told)
        if summed is not None
        else {
            "body": f"{asked or head}\n    Last answered: {reply}" if reply else "",
            "summary": asked,
            "title": head,
        },
        less=None if told else lambda told: _session_piece(ask, one, words, summed, told),
    )


def _hit_piece(ask: Ask, hit: Hit, relevance: float, there: str, fell: str) -> Piece:
    says = _SAYS.get(hit.role, f"{hit.kind} {hit.path or hit.title}".strip())
    head = f"- [fw:{hit.short}] {day(hit.created_at)} {says}:"
    sizes = (("body", 700), ("summary", 280), ("title", 120)) if len(hit.text) > WHOLE else (("body", WHOLE),)
    always = f" ({fell})" if fell else ""
    tail = f" ({'; '.join(filter(None, (fell, there)))})" if fell or there else ""
    texts = {name: f"{head} {shorten(hit.text, size)}{always if name == 'title' else tail}" for name, size in sizes}
    return ask.piece(kind=hit.kind, id=hit.id, short=hit.short, relevance=relevance, texts=texts)
