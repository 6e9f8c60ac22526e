"""From drafts and facts to the rows that are stored: redacted, identified, hashed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from flywheel.model import Clean, Message, MessageKind, Micros, ProjectId, Session, SessionId, digest
from flywheel.readers import Draft, SessionFacts, message_id, session_id
from flywheel.readers.claude.tools import is_own_tool
from flywheel.text.compose import strip_injected
from flywheel.text.redact import Redactor

_CALL_ID: Final = re.compile(r"(?:toolu|srvtoolu|call)_[A-Za-z0-9]{1,40}")
_SHORT: Final = 200  # characters of what is remembered redacted: names of tools, folders, models, titles
_REMEMBERED: Final = 1024
_CALLS: Final = (MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT)

RESUMED: Final = 60 * 1_000_000
"""Microseconds after its end from which on a session's message says that it was resumed."""

AHEAD: Final = 86_400 * 1_000_000
"""Microseconds that an agent's time may be ahead: one without a zone may be of another one."""


class Evidence:
    """Makes rows of one agent's drafts. Every text goes through the redactor."""

    def __init__(self, agent: str, redact: Redactor) -> None:
        self._agent = agent
        self._redact = redact
        self._known: dict[str, Clean] = {}

    def message(self, draft: Draft, session: SessionId, project: ProjectId, *, now: Micros) -> Message:
        """The row of a draft. Of a call of our own tools nothing stays but that it was made, whatever agent made it."""
        own = draft.kind in _CALLS and is_own_tool(draft.tool)
        text = self._redact.text("" if own else strip_injected(draft.text))
        call_id = draft.call_id
        if call_id and not _CALL_ID.fullmatch(call_id):
            call_id = self._redact.text(call_id)
        return Message(
            id=message_id(self._agent, draft.key),
            project_id=project,
            session_id=session,
            ordinal=draft.ordinal,
            role=draft.role,
            kind=draft.kind,
            text=text,
            tool=self._short(draft.tool),
            call_id=call_id,
            is_error=draft.is_error,
            meta=self.mapping(draft.meta) if draft.meta and not own else {},
            created_at=past(draft.created_at, now),
            sha256=digest(text),
        )

    def session(
        self, before: Session | None, facts: SessionFacts, project: ProjectId, *, native: str, new: int, now: Micros
    ) -> Session:
        """The session's row after these facts and ``new`` more messages; ``before`` is the stored one."""
        text = self._short
        began, last, ended = (at and past(at, now) for at in (facts.started_at, facts.last_at, facts.ended_at))
        known = before or Session(
            id=session_id(self._agent, native),
            project_id=project,
            agent=self._agent,
            native_id=text(native),
            started_at=began or now,
            last_at=last or began or now,
        )
        extra = dict(facts.extra)
        if facts.forked_from:
            extra["forked_from"] = session_id(self._agent, facts.forked_from)
        return replace(
            known,
            parent_id=known.parent_id or (session_id(self._agent, facts.parent) if facts.parent else None),
            title=text(facts.title) or known.title,
            cwd=known.cwd or text(facts.cwd),
            branch=text(facts.branch) or known.branch,
            model=text(facts.model) or known.model,
            client_version=text(facts.version) or known.client_version,
            started_at=min(known.started_at, began or known.started_at),
            last_at=max(known.last_at, last or known.last_at),
            ended_at=_ended(ended or known.ended_at, last),
            messages=known.messages + new,
            facts={**known.facts, **self.mapping(extra)} if extra else known.facts,
        )

    def mapping(self, value: object) -> dict[str, object]:
        """A JSON object with every text in it redacted, and without any briefing of ours."""
        return cast("dict[str, object]", self._redact.value(_own_words(value)))

    def _short(self, text: str) -> Clean:
        """Redacted; what is short comes again and again and is remembered."""
        clean = self._known.get(text)
        if clean is None:
            clean = self._redact.text(text)
            if len(text) <= _SHORT:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[text] = clean
        return clean


def past(at: Micros, now: Micros) -> Micros:
    """A time that an agent wrote; one more than `AHEAD` of ours is of a clock that was wrong, and becomes ``now``.

    Left as it is, it would be newer than everything that comes after it, for as long as it is ahead.
    """
    return at if at <= now + AHEAD else now


def _ended(ended: Micros | None, last: Micros | None) -> Micros | None:
    """A session that goes on long after its end was resumed; its last lines may be written a little late."""
    return None if ended and last and last > ended + RESUMED else ended


def _own_words(value: object) -> object:
    """The JSON value without our briefings in its texts."""
    if isinstance(value, str):
        return strip_injected(value)
    if isinstance(value, Mapping):
        return {key: _own_words(inner) for key, inner in value.items()}
    return [_own_words(inner) for inner in value] if isinstance(value, (list, tuple)) else value
