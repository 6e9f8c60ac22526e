"""The books of one pass over a Gemini log: drafts, retractions, session facts, and the state carried along."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.fields import cap_text, kind_name, native, text_of
from flywheel.readers.gemini.state import Kept, State, brief, part_of
from flywheel.readers.seam import Draft, Parsed, Restored, Retracted, SessionFacts

Key = tuple[str, ...]


class Ledger:
    """Takes what the handlers of the record kinds find."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.drafts: list[Draft] = []
        self.retracted: list[Retracted | Restored] = []
        self._sessions: dict[str, SessionFacts] = {}
        self._unknown: dict[str, int] = {}
        self.touched = False  # a record of the session went by
        self._hash = ""

    def adopt(self, session: str, project_hash: str) -> None:
        """The session's own id, and the hash of the folder that it was in; the first ones count."""
        state = self.state
        if session and not state.named:
            if session != state.session:
                self._tell()
            state.session, state.named = session, True
        if project_hash:
            self._hash = self._hash or project_hash
            if not state.cwd:
                state.cwd = next((root for root in state.roots if is_hash_of(project_hash, root)), "")
            state.roots = []
        self.touched = True

    def draft(
        self,
        key: Key,
        role: Role,
        kind: MessageKind,
        text: str,
        at: Micros,
        tool: str = "",
        call_id: str = "",
        is_error: bool = False,
        meta: Mapping[str, object] | None = None,
    ) -> None:
        """Add a draft; one that was taken back before holds again."""
        state = self.state
        text, chars = cap_text(text, state.block)
        if chars:
            meta = {**(meta or {}), "chars": chars}
        count = state.count
        self.drafts.append(Draft(key, state.session, count, role, kind, text, at, tool, call_id, is_error, meta or {}))
        state.count = count + 1
        if state.gone and (name := brief("\0".join(key))) in state.gone:
            state.gone.remove(name)
            self.restore([key])

    def own(
        self,
        id: str,
        kept: Kept,
        code: str,
        role: Role,
        kind: MessageKind,
        text: str,
        at: Micros,
        *,
        is_error: bool = False,
        meta: Mapping[str, object] | None = None,
    ) -> str:
        """A draft that belongs to a message itself, unless it is there already or empty; gives its part's name."""
        if not text or text.isspace():
            return ""
        part = part_of(code, text)
        if part not in kept.parts:
            kept.hold(part)
            self.draft((id, part), role, kind, text, at, "", "", is_error, meta)
        return part

    def retract(self, keys: Sequence[Key], reason: str) -> None:
        """Take back drafts by their keys."""
        if keys:
            self.state.lose([brief("\0".join(key)) for key in keys])
            self.retracted.append(
                Retracted(reason=reason, session=self.state.session, keys=tuple(keys), at=self.state.at)
            )

    def retract_since(self, ordinal: int, reason: str) -> None:
        """Take back every draft from an ordinal on."""
        state = self.state
        if ordinal < state.count:
            state.taken = True
            self.retracted.append(
                Retracted(
                    reason=reason, session=state.session, since=ordinal, until=state.count, at=state.at
                )
            )  # fmt: skip

    def restore(self, keys: Sequence[Key]) -> None:
        """Drafts that hold again."""
        if keys:
            self.retracted.append(Restored(session=self.state.session, keys=tuple(keys)))

    def keys(self, id: str) -> list[Key]:
        """The keys of a message's drafts."""
        kept = self.state.kept(id) or Kept(0)
        keys: list[Key] = [(id, part) for part in kept.parts]
        for name in kept.calls:
            call = self.state.call(name[2:])
            part = call and (call.asked if name[0] == "c" else call.answered)
            if part:
                keys.append((name[2:], part))
        return keys

    def drop(self, id: str) -> list[Key]:
        """Forget a message that is not there any more; the keys of its drafts."""
        keys = self.keys(id)
        kept = self.state.kept(id) or Kept(0)
        del self.state.recent[id]
        for name in kept.calls:
            call = self.state.call(name[2:])
            if call is not None:
                call.asked, call.answered = ("", call.answered) if name[0] == "c" else (call.asked, "")
        return keys

    def count(self, kind: object) -> None:
        """Count a record kind that no rule knows."""
        name = kind_name(kind)
        self._unknown[name] = self._unknown.get(name, 0) + 1

    def close(self) -> Parsed:
        """Everything entered since the books were opened."""
        self._tell()
        return Parsed(
            carry=self.state.dump(),
            drafts=tuple(self.drafts),
            sessions=self._sessions,
            retracted=tuple(self.retracted),
            unknown=self._unknown,
        )

    def _tell(self) -> None:
        """The facts of the session as it is known now, if something was said of it."""
        if not self.touched:
            return
        self.touched = False
        state = self.state
        extra: dict[str, object] = {}
        if any(state.usage):
            extra["usage"] = state.spent()
        if state.compactions:
            extra["compactions"] = state.compactions
        if self._hash:
            extra["project_hash"] = self._hash
        facts = SessionFacts(
            native_id=state.session,
            parent=state.parent,
            title=state.title,
            cwd=state.cwd,
            model=state.model,
            started_at=None if state.started is None else Micros(state.started),
            last_at=None if state.last is None else Micros(state.last),
            extra=extra,
        )
        known = self._sessions.get(state.session)
        self._sessions[state.session] = known.merge(facts) if known else facts


def is_hash_of(value: str, path: str) -> bool:
    """Whether this is how the client names that folder."""
    return value == hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()


def ids_of(messages: Sequence[Any]) -> list[str]:
    """The ids of the messages in a list, "" for what is none."""
    return [native(message.get("id")) if isinstance(message, dict) else "" for message in messages]


def type_of(message: Mapping[str, Any]) -> str:
    """A message's type; "" for what is none."""
    return text_of(message.get("type"))
