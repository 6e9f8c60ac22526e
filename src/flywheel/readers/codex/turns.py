"""Threads and turns: whose records they are, where a turn begins, what was taken back (FORMATS §2.2).

``session_meta`` names the thread; a later one with another id is a parent's, replayed. A turn whose id is older than
the thread is the parent's too. A file that continues its thread names in ``history_base`` the record of an earlier file
before which it continues: what follows there was reverted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flywheel.model import MessageKind, Role
from flywheel.readers.codex.ledger import Ledger, digest_of
from flywheel.readers.codex.state import born, rank
from flywheel.readers.fields import kind_name, mapping_of, micros_of, native, text_of, whole
from flywheel.readers.seam import Retracted

Fields = Mapping[str, Any]

_COUNTS: Final = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
_MOST: Final = 2**60
_SILENT: Final = frozenset({"guardian", "guardian_review", "compact", "memory_consolidation"})
_PEOPLE: Final = ("", "user")


def session_meta(on: Ledger, fields: Fields) -> None:
    """The thread's own, again when something about it changed; or a replayed parent's."""
    state, name = on.state, native(fields.get("id")) or native(fields.get("session_id"))
    if state.session and name and name != state.session:
        state.seed = name
        if not state.child and not state.inherits:
            on.facts.setdefault("forked_from", name)
        state.inherits = True
        return
    state.session = state.seed = state.session or name
    state.born = state.born or born(state.session)
    on.noted()
    _facts(on, fields)
    if not state.met:
        state.met = True
        _lineage(on, fields)


def _facts(on: Ledger, fields: Fields) -> None:
    facts, state = on.facts, on.state
    started = micros_of(fields.get("timestamp"))
    if started is not None and not state.base:
        on.began(started)
    _folder(on, fields)
    branch = text_of(mapping_of(fields.get("git")).get("branch"))
    if branch and branch != "HEAD":
        facts["branch"] = branch[:250]
    version = text_of(fields.get("cli_version"))[:60]
    if version:
        facts["version"] = version
    state.originator = kind_name(fields.get("originator")) if fields.get("originator") else state.originator


def _folder(on: Ledger, fields: Fields) -> None:
    if not on.facts.get("cwd"):
        on.facts["cwd"] = text_of(fields.get("cwd"))[:4096]


def _lineage(on: Ledger, fields: Fields) -> None:
    """Parent, origin, where the own records begin, and what this file takes back of the earlier ones."""
    state = on.state
    agent = mapping_of(fields.get("source")).get("subagent")
    spawn = mapping_of(mapping_of(agent).get("thread_spawn"))
    sort = text_of(agent) or text_of(mapping_of(agent).get("other")) or text_of(fields.get("thread_source"))
    parent = native(fields.get("parent_thread_id")) or native(spawn.get("parent_thread_id"))
    state.child = bool(parent or agent) or (sort not in _PEOPLE and sort in _SILENT | {"subagent", "review"})
    state.silent = sort in _SILENT
    if state.child:
        role = text_of(fields.get("agent_role")) or text_of(spawn.get("agent_role")) or sort
        state.agent_type = kind_name(role) if role and role != "subagent" else ""
    origin = native(fields.get("forked_from_id"))
    if parent:
        on.facts["parent"] = parent
    elif origin:
        on.facts["forked_from"] = origin
    state.inherits = state.inherits or bool(parent or origin)
    start = whole(fields.get("subagent_history_start_ordinal"))
    state.start = start if start is not None and 0 < start < 2**31 else 0
    if state.base:
        base = mapping_of(fields.get("history_base"))
        cut = whole(base.get("end_ordinal_exclusive"))
        if base and cut is None:  # where the end is not told, nothing was taken back
            state.cut = state.base
        else:
            state.cut = rank(state.session, native(base.get("thread_id"))) + max(cut or 0, 0)
        _revert(on)


def _revert(on: Ledger) -> None:
    """What the earlier files of the thread hold behind the record where this one continues.

    Told with every turn: an earlier file may be read later than this one.
    """
    state = on.state
    if state.cut < state.base:
        gone = Retracted(reason="reverted", session=state.session, since=state.cut, until=state.base, at=on.at)
        on.retracted.append(gone)


def turn_context(on: Ledger, fields: Fields) -> None:
    """The model and the folder of what follows."""
    if on.replayed:
        return
    on.noted()
    turn = on.named(native(fields.get("turn_id")))
    if turn and turn != on.state.turn:  # of a client that writes no event when a turn starts
        _begin(on, turn)
    model = text_of(fields.get("model"))[:120]
    if model:
        on.facts["model"] = model
    _folder(on, fields)


def _begin(on: Ledger, turn: str) -> None:
    """A turn of this name begins; "" for one without a name."""
    state = on.state
    if turn != state.turn or not turn:
        state.spoken, state.begun = False, state.last + 1
    state.explicit = bool(turn)
    state.turn = turn or state.turn


def turn_started(on: Ledger, fields: Fields) -> None:
    """A turn begins; one that is older than the thread is a replay."""
    state = on.state
    name = native(fields.get("turn_id"))
    made = born(name)
    state.old = bool(made and state.born and made < state.born)
    if on.replayed:
        return
    on.noted()
    _begin(on, on.named(name))
    if state.base and state.met:
        _revert(on)


def turn_complete(on: Ledger, _: Fields) -> None:
    """A turn has ended: a prompt without a new one begins one of its own."""
    on.noted()
    on.state.explicit = False


def turn_aborted(on: Ledger, fields: Fields) -> None:
    """A turn was broken off, mostly by a person."""
    if text_of(fields.get("reason")) in ("", "interrupted"):
        key = (on.turn_of(fields), "aborted")
        text = "[Turn interrupted by user]"
        on.draft(key, Role.USER, MessageKind.NOTICE, text, meta={"notice": "interrupted"})
    on.state.explicit = False


def rolled_back(on: Ledger, fields: Fields) -> None:
    """The last turns of a person were taken back."""
    state, turns = on.state, whole(fields.get("num_turns")) or 0
    if turns <= 0 or (on.stamp and on.stamp == state.rolled):
        return
    on.noted()
    state.rolled = on.stamp
    taken = state.turns[-turns:]
    del state.turns[-turns:]
    if taken:
        until = state.last + 1
        on.retracted.append(
            Retracted(reason="rolled back", session=state.session, since=taken[0], until=until, at=on.at)
        )
    state.spoken, state.begun = False, state.last + 1


def compacted(on: Ledger, fields: Fields) -> None:
    """The thread was summed up: the summary, never the history that replaces what was said."""
    on.noted()
    on.state.compactions += 1
    text = text_of(fields.get("message"))
    if text:
        key = (on.turn_of(fields), f"s{digest_of(text)}")
        on.draft(key, Role.ASSISTANT, MessageKind.SUMMARY, text)


def token_count(on: Ledger, fields: Fields) -> None:
    """Cumulative counts of the thread; those of a fork begin with its origin's."""
    info = mapping_of(fields.get("info"))
    total = _counts(info.get("total_token_usage"))
    if not total:
        return
    state, on.touched = on.state, True
    if on.replayed:
        state.floor = state.total = total
        return
    if not state.total and state.inherits:
        recent = _counts(info.get("last_token_usage"))
        state.floor = [max(all_ - own, 0) for all_, own in zip(total, recent, strict=True)] if recent else []
    elif state.total and sum(total) < sum(state.total):
        state.spent, state.floor = state.usage, []
    state.total = total


def _counts(value: object) -> list[int]:
    """Input (without what was cached), output, cached and newly cached tokens; [] when there are none."""
    if not isinstance(value, dict):
        return []
    given, output, cached, written = [
        amount if type(amount) is int and 0 <= amount < _MOST else 0 for amount in map(value.get, _COUNTS)
    ]
    return [given - cached if given > cached else 0, output, cached, written]


def named(on: Ledger, fields: Fields) -> None:
    """The thread was given a name."""
    on.noted()
    on.state.entitle("name", text_of(fields.get("thread_name")))


def failed(on: Ledger, fields: Fields) -> None:
    """An error that the client showed."""
    text = text_of(fields.get("message"))
    key = (on.turn_of(fields), f"e{digest_of(text)}")
    on.draft(key, Role.SYSTEM, MessageKind.NOTICE, text, is_error=True)
