"""Follows one session for its attribution and its course, and keeps both in the retrospective's transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.jobs.worker import Deps
from flywheel.model import Attribution, Course, Discovery, Feedback, Injection, Message, MessageKind, Project, Session
from flywheel.retro.attribution import queries
from flywheel.retro.attribution.journey import COMMAND, FILE, Journey
from flywheel.retro.attribution.nearness import count_repeated, is_near
from flywheel.retro.attribution.watching import HARMS, Sign, Watch
from flywheel.retro.queries import injections
from flywheel.store import Tx
from flywheel.store.discoveries import said_id
from flywheel.store.mapper import get
from flywheel.text.tokens import count as tokens_in

NOTE: Final = 500
"""Characters of a sentence that called an item wrong, as it is kept."""

_TOOLS: Final = (MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT)


class Following:
    """Takes a session's messages in by pages, in order; `keep` writes what came of it.

    ``cut`` is at how many characters the messages of tools were cut. Memory is bounded by what is told and touched.
    """

    def __init__(self, deps: Deps, session: Session, *, cut: int) -> None:
        self._deps = deps
        self._session = session
        self._cut = cut
        with deps.db.read() as tx:
            project = get(tx, Project, id=session.project_id)
            ledger = injections(tx, session)
            items = queries.items_of(tx, ledger)
            self._compacted = queries.compactions(tx, session.id) if ledger else []
        roots = [str(root) for root in (project.root if project else "", session.cwd) if root]
        self._ledger = ledger
        self._watch = Watch(items, roots)
        self._journey = Journey(roots=roots)

    def hear(self, messages: Sequence[Message]) -> None:
        """Take a page in. Of a text that was cut, tokens are counted in proportion."""
        long = [one.id for one in messages if one.kind in _TOOLS and len(one.text) >= self._cut]
        chars: dict[str, int] = {}
        if long:
            with self._deps.db.read() as tx:
                chars = queries.lengths(tx, long)
        for message in messages:
            tokens = int(tokens_in(message.text))
            if message.id in chars:
                tokens = tokens * max(chars[message.id], len(message.text)) // max(1, len(message.text))
            self._journey.hear(message, tokens)
            self._watch.hear(message)

    def keep(self, tx: Tx) -> None:
        """Write signs, the ledger's marks, the course and the discoveries; doing it again changes nothing."""
        watch, session = self._watch, self._session
        used = watch.used()
        signs = list(self._signs())
        feedback = [self._feedback(row) for row in signs if row.signal in HARMS]
        queries.keep_signs(tx, session, signs, {one.id: one for one in feedback})
        known = {row.item_id: row.used for row in self._ledger}
        marks = {id: id in used for id in watch.items}
        queries.mark_used(tx, session, {id: value for id, value in marks.items() if known.get(id) is not value})
        if session.parent_id is None:
            queries.keep_course(tx, self._course(used))
            queries.keep_discoveries(tx, session, self._discoveries(used))

    def _signs(self) -> Iterator[Attribution]:
        for (id, sign), first in self._watch.signs.items():
            yield Attribution(
                session_id=self._session.id, item_id=id, signal=sign, project_id=self._session.project_id,
                item_kind=self._watch.items[id].kind, native_session=self._session.native_id,
                agent=self._session.agent, message_id=first.message, created_at=first.at,
            )  # fmt: skip

    def _feedback(self, row: Attribution) -> Feedback:
        said = self._watch.signs[row.item_id, row.signal].said
        return Feedback(
            id=said_id(row.session_id, row.item_id, row.signal), project_id=row.project_id, kind=row.item_kind,
            target_id=row.item_id, verdict=row.signal, note=self._deps.redact.short(said, NOTE), agent=row.agent,
            native_session=row.native_session, created_at=row.created_at,
        )  # fmt: skip

    def _course(self, used: set[str]) -> Course:
        watch, journey, session = self._watch, self._journey, self._session
        told = [row for row in self._ledger if row.event != queries.TOOL]
        items = {row.item_id for row in told} & set(watch.items)
        wrong = watch.wrong() & items
        touched = watch.touched | set(journey.edits.kept) | journey.met.names
        idle = [watch.items[id] for id in items - used - wrong]
        first = journey.first_edit()
        return Course(
            session_id=session.id, project_id=session.project_id, agent=session.agent, started_at=session.started_at,
            tokens=journey.tokens, calls=journey.calls, edit_tokens=first[0] if first else None,
            edit_calls=first[1] if first else None, injected=len(told), injected_tokens=tokens_of(told),
            shown=len(items), used=len(used & items), wrong=len(wrong), repeated=count_repeated(told, self._compacted),
            irrelevant=sum(not is_near(item, touched, watch.said) for item in idle),
        )  # fmt: skip

    def _discoveries(self, used: set[str]) -> Iterator[Discovery]:
        """What the session found out, and what it used of what it was told without having to find it out."""
        clean, session = self._deps.redact.text, self._session
        own = set()
        for one in self._journey.discoveries():
            own.add((one.kind, one.name))
            yield Discovery(
                session_id=session.id, kind=one.kind, name=clean(one.name), project_id=session.project_id, told=False,
                tokens=one.tokens, calls=one.calls, again=True, message_id=one.message, created_at=one.at,
            )  # fmt: skip
        first: dict[str, Sign] = {}
        for (id, _), sign in self._watch.signs.items():
            first[id] = min(first.get(id, sign), sign, key=lambda one: one.at)
        for kind, name, id in sorted(self._told(used)):
            if (kind, name) not in own:
                own.add((kind, name))
                yield Discovery(
                    session_id=session.id, kind=kind, name=clean(name), project_id=session.project_id, told=True,
                    tokens=0, calls=0, again=False, message_id=first[id].message, created_at=first[id].at,
                )  # fmt: skip

    def _told(self, used: set[str]) -> Iterator[tuple[str, str, str]]:
        """Files that were edited and commands that ran, of items that were used, and that nobody else had named."""
        edited, ran = set(self._journey.edits.kept) - self._watch.known(), self._watch.ran - self._watch.known()
        for id in used:
            item = self._watch.items[id]
            yield from ((FILE, name, id) for name in item.files & edited)
            yield from ((COMMAND, name, id) for name in item.commands & ran)


def tokens_of(ledger: Sequence[Injection]) -> int:
    """Tokens that were put in."""
    return sum(row.tokens for row in ledger)
