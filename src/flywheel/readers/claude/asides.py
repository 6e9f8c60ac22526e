"""What goes with the conversation: ``system`` records, attachments, queued text, titles, links (FORMATS §1.2, §1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from flywheel.model import MessageKind, Role
from flywheel.readers.claude.kinds import QUIET_ATTACHMENTS, QUIET_SUBTYPES
from flywheel.readers.claude.ledger import Ledger, Turn
from flywheel.readers.claude.prompts import spoken
from flywheel.readers.claude.tools import result_text
from flywheel.readers.fields import kind_name, list_of, mapping_of, native, text_of, true, whole
from flywheel.readers.seam import Record, Retracted
from flywheel.text.compose import strip_injected

TITLES: Final[Mapping[str, tuple[str, ...]]] = {
    "custom-title": ("custom", "customTitle", "title"),
    "ai-title": ("ai", "aiTitle", "title"),
    "agent-name": ("name", "agentName", "name"),
    "summary": ("summary", "summary"),
}
"""Record kind to the sort of title and the keys that may hold it."""

_ATTACHMENTS_SINCE: Final = (2, 1, 80)  # before, text typed mid-turn is in queue operations only


def system(on: Ledger, record: Record) -> None:
    """Boundaries, errors, refusals and summaries of the client."""
    turn = on.turn(record)
    subtype = text_of(record.get("subtype"))
    keys = tuple((native(uuid),) for uuid in list_of(record.get("retractedMessageUuids")) if native(uuid))
    if keys:
        on.retracted.append(Retracted(reason="refused", session=turn.session, keys=keys, at=turn.at))
    if subtype == "compact_boundary":
        on.state.compactions += turn.session == on.state.session
    elif subtype in ("api_error", "error"):
        on.draft(turn, Role.SYSTEM, MessageKind.NOTICE, _error_text(record), is_error=True)
    elif subtype == "away_summary":
        on.draft(turn, Role.ASSISTANT, MessageKind.SUMMARY, text_of(record.get("content")))
    elif subtype != "api_refusal" and subtype not in QUIET_SUBTYPES:
        on.count(f"system.{kind_name(subtype)}")


def _error_text(record: Record) -> str:
    error = record.get("error")
    fields = mapping_of(error)
    candidates = (fields.get("formatted"), fields.get("message"), error, record.get("content"))
    return next((text for value in candidates if (text := text_of(value))), "")


def attachment(on: Ledger, record: Record) -> None:
    """What was attached to a turn; only text that a person typed meanwhile is kept."""
    turn = on.turn(record)
    fields = mapping_of(record.get("attachment"))
    kind = text_of(fields.get("type"))
    if kind != "queued_command":
        if kind not in QUIET_ATTACHMENTS:
            on.count(f"attachment.{kind_name(kind)}")
        return
    if not turn.trunk or text_of(fields.get("commandMode")) not in ("", "prompt") or true(fields.get("isMeta")):
        return
    text, images = result_text(fields.get("prompt"))
    words = spoken(strip_injected(text), text_of(record.get("promptSource")))
    on.draft(turn, Role.USER, MessageKind.PROMPT, words.text, meta={"images": images} if images else None)


def queue(on: Ledger, record: Record) -> None:
    """Text typed mid-turn, of clients that had no attachments yet: put into the queue, then taken into the turn."""
    on.beside(record)
    state, text = on.state, text_of(record.get("content"))
    operation = record.get("operation")
    if _version(state.version) >= _ATTACHMENTS_SINCE:
        state.queue.clear()
    elif operation == "enqueue" and text:
        state.enqueue(text)
    elif operation == "popAll":
        state.queue.clear()
    elif operation in ("dequeue", "remove") and state.queue:
        words = spoken(strip_injected(state.queue.pop(0)))
        if operation == "remove" and state.version and not state.child:
            turn = Turn(record, native(record.get("uuid")), state.trunk, True, on.date(record))
            on.draft(turn, Role.USER, MessageKind.PROMPT, words.text)


def title(on: Ledger, record: Record) -> None:
    """A title of some sort; of each sort the last one wins."""
    name, *keys = TITLES[record["type"]]
    text = next((text for key in keys if (text := text_of(record.get(key)))), "")
    foreign = name == "summary" and native(record.get("leafUuid")) not in on.state.leaves
    if not foreign and on.beside(record):
        on.state.entitle(name, text)


def link(on: Ledger, record: Record) -> None:
    """A pull request that came from this session."""
    number, url = whole(record.get("prNumber")), text_of(record.get("prUrl"))[:500]
    if (number is not None or url) and on.beside(record):
        on.state.link({"number": number, "url": url, "repository": text_of(record.get("prRepository"))[:200]})


@lru_cache(16)
def _version(text: str) -> tuple[int, ...]:
    parts = text.split("-")[0].split(".")
    return tuple(int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 9)
