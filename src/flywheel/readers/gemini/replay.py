"""The replay of a Gemini log: messages that come again, metadata, rewinds, conversations built anew (FORMATS §3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from flywheel.readers.fields import list_of, mapping_of, micros_of, native, text_of
from flywheel.readers.gemini import parts as said
from flywheel.readers.gemini.ledger import Ledger, ids_of, is_hash_of, type_of
from flywheel.readers.gemini.messages import message
from flywheel.readers.gemini.state import brief, line_of
from flywheel.readers.seam import Record


def replay(on: Ledger, record: Record) -> None:
    """One record of the log, or a whole document."""
    if "$rewindTo" in record and isinstance(record["$rewindTo"], str):
        _rewind(on, native(record["$rewindTo"]))
    elif native(record.get("id")):
        message(on, record)
    elif isinstance(fields := record.get("$set"), dict):
        if len(fields) > 1 or "lastUpdated" not in fields:  # alone it follows every message, which is dated itself
            _set(on, fields)
    elif isinstance(record.get("sessionId"), str):
        _metadata(on, record)
        for item in list_of(record.get("messages")):
            if isinstance(item, dict) and native(item.get("id")):
                message(on, item)
    else:
        on.count(record.get("type"))


def _metadata(on: Ledger, fields: Mapping[str, Any]) -> None:
    """Facts about the session; those that change come again."""
    state = on.state
    hashed = native(fields.get("projectHash"))
    folders = [folder for folder in list_of(fields.get("directories")) if isinstance(folder, str)]
    state.roots += [folder[:4096] for folder in folders[:8] if hashed and is_hash_of(hashed, folder)]
    on.adopt(native(fields.get("sessionId")), hashed)
    for name in ("startTime", "lastUpdated"):
        state.date(micros_of(fields.get(name)))
    state.summary = line_of(said.cleaned(text_of(fields.get("summary")))) or state.summary
    if fields.get("kind") == "subagent":
        state.child = True


def _set(on: Ledger, fields: Mapping[str, Any]) -> None:
    _metadata(on, fields)
    if isinstance(fields.get("messages"), list):
        _rebuild(on, fields["messages"])


def _rebuild(on: Ledger, messages: Sequence[Any]) -> None:
    """The conversation as the client put it together anew: on start, on resume, compacted, or cut off at its end.

    What is missing at the end was taken back. What is missing elsewhere is only not sent to the model any more: the
    client leaves out notices, slash commands and prompts that begin with a hook's words, and sums up what is old.
    """
    state, ids = on.state, ids_of(messages)
    last = next((id for id in reversed(ids) if id in state.recent), "")
    if last:
        order = list(state.recent)
        rest = set(order[order.index(last) + 1 :]).difference(ids)
        spoken = [id for id in order if id in rest and (kept := state.kept(id)) and kept.speech]
        keys = [key for id in spoken for key in on.drop(id)]
        on.retract(keys, "rolled back")
    summaries = {id for id, (one, two) in zip(ids, pairwise([*messages, None]), strict=True) if _sums_up(one, two)}
    for id, item in zip(ids, messages, strict=True):
        if id:
            message(on, item, rebuilt=True, summary=id in summaries)
    if state.taken:
        on.restore([key for id in ids if id in state.recent for key in on.keys(id)])
    state.rewound = ""


def _sums_up(one: object, two: object) -> bool:
    """Whether a message is a summary of what was before: the model is made to answer that it took it in."""
    first, second = mapping_of(one), mapping_of(two)
    if type_of(first) != "user" or type_of(second) != "gemini":
        return False
    return "".join(said.parts_of(second.get("content")).texts).strip() == said.TAKEN_IN


def _rewind(on: Ledger, id: str) -> None:
    """That message and all after it are taken back; when it is not known, all of them.

    The same rewind twice with nothing of it in between is one that was written twice.
    """
    state = on.state
    if not id or state.rewound == id:
        return
    on.touched = True
    order, target = list(state.recent), state.kept(id)
    if target is not None:
        since = target.ordinal
        keys = [key for dropped in order[order.index(id) :] for key in on.drop(dropped)]
        on.retract(keys, "rewound")
    else:
        since = state.prompts.get(brief(id), _oldest(on) if state.overflown else 0)
        for dropped in order:
            if (kept := state.kept(dropped)) and kept.ordinal >= since:
                on.drop(dropped)
        on.retract_since(since, "rewound")
    state.prompts = {name: ordinal for name, ordinal in state.prompts.items() if ordinal < since}
    state.rewound = id


def _oldest(on: Ledger) -> int:
    """The ordinal of the oldest message that is still known: the log was longer than what is remembered of it."""
    oldest = on.state.kept(next(iter(on.state.recent), ""))
    return on.state.count if oldest is None else oldest.ordinal
