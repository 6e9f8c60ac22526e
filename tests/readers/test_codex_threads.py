"""Threads of Codex: families of files, forks and subagents, what is taken back, counts and names."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.readers.codexing import READER, START, Rollout, texts, uuid7

from flywheel.model import MessageKind, Micros
from flywheel.readers import Place, Retracted, SpanReader

ID = "01a22b5e-9dfa-7df0-a7ce-77dee8102a34"
OTHER = "01a22b5f-011c-7840-90ea-3f0cc8b4ad3d"


def usage(total: int, recent: int) -> dict[str, object]:
    """A ``token_count``; a third was cached."""
    return {
        "info": {
            "total_token_usage": {"input_tokens": total, "cached_input_tokens": total // 3, "output_tokens": 7},
            "last_token_usage": {"input_tokens": recent, "cached_input_tokens": recent // 3, "output_tokens": 7},
        },
        "rate_limits": None,
    }


@pytest.mark.parametrize(
    ("parts", "session"),
    [
        (("sessions", "2026", "11", "30", f"rollout-2026-11-30T07-32-30-{ID}.jsonl"), ID),
        (("archived_sessions", f"rollout-2026-11-30T07-32-30-{ID}.jsonl"), ID),
        (("sessions", "2026", "11", "30", f"rollout-2026-11-30T07-32-30-{ID}.jsonl.zst"), ID),
        (("sessions", f"rollout-2026-11-30T07-32-30-{ID}_{OTHER}.jsonl"), ID),
        (("sessions", f"rollout-2026-11-30T07-32-30-{ID.upper()}.jsonl"), ID),
        (("sessions", f"rollout-2026-11-30T07-32-30-{ID}.json"), None),
        (("sessions", f"{ID}.jsonl"), None),
        (("session_index.jsonl",), None),
        ((), None),
    ],
)
def test_where_rollouts_are(parts: tuple[str, ...], session: str | None) -> None:
    """By their names, whatever the folder; the thread's id is in them."""
    place = READER.place(parts)
    assert (place and place.session) == session


def test_roots_follow_the_home_of_codex() -> None:
    """Active and archived ones; ``$CODEX_HOME`` takes the place of ``~/.codex``."""
    assert READER.roots("/home/dev", {})[:2] == ("/home/dev/.codex/sessions", "/home/dev/.codex/archived_sessions")
    assert READER.roots("/home/dev", {"CODEX_HOME": "/data/cx/"})[0] == "/data/cx/sessions"


def test_keys_do_not_depend_on_the_path_or_the_time() -> None:
    """A copy elsewhere, or one whose records were written anew, gives the same messages."""
    rollout = Rollout().head().exchange("Go on.", "Yes.")
    later = replace(rollout, records=[{**record, "timestamp": "2027-01-01T00:00:00Z"} for record in rollout.records])
    bare = READER.parse(READER.start(Place(), at=Micros(1)), later.records)
    assert [draft.key for draft in rollout.parsed().drafts] == [draft.key for draft in bare.drafts]


def test_a_legacy_history_that_is_migrated_keeps_its_keys() -> None:
    """Codex rewrites old rollouts in place: events become completed items, turns without a name get one."""
    old = Rollout(ordinal=None).head().user("Continue").reply("Done.").user("Continue").reply("Done again.")
    new = Rollout().head()
    for number, answer in ((1, "Done."), (4, "Done again.")):
        new.begin(f"rollout-{number}").got("Continue").said("Continue").reply(answer)
        new.event("task_complete", turn_id=new.turn)
    assert [draft.key for draft in old.parsed().drafts] == [draft.key for draft in new.parsed().drafts]


def test_files_of_one_thread_keep_their_order() -> None:
    """Ordinals of a later file begin behind all of an earlier one."""
    first = Rollout().head().exchange("One", "1")
    segment = uuid7(first.at + timedelta(milliseconds=1), 2)
    more = replace(first, records=[]).head(history_base={"thread_id": first.thread, "end_ordinal_exclusive": 7})
    more.exchange("Two", "2")
    since, until = READER.span(READER.start(READER.place((first.name(),)) or Place(), at=Micros(1)))
    assert [draft.ordinal for draft in first.parsed().drafts] == [3, 4]
    assert (since, until) == (0, 2**23)
    assert all(draft.ordinal >= until for draft in more.parsed(segment).drafts)
    assert {draft.session for draft in more.parsed(segment).drafts} == {first.thread}
    assert isinstance(READER, SpanReader)


def test_a_file_that_continues_earlier_takes_back_what_followed() -> None:
    """``history_base`` names the record before which it goes on, of whichever earlier file."""
    one, two = uuid7(START + timedelta(minutes=1), 2), uuid7(START + timedelta(minutes=2), 3)
    rollout = Rollout(at=START + timedelta(minutes=2))
    rollout.head(history_base={"thread_id": rollout.thread, "end_ordinal_exclusive": 14})
    (first,) = rollout.parsed(one).retracted
    rollout.records = []
    rollout.head(history_base={"thread_id": one, "end_ordinal_exclusive": 20})
    (second,) = rollout.parsed(two).retracted
    assert isinstance(first, Retracted)
    assert isinstance(second, Retracted)
    assert (first.reason, first.since, first.until) == ("reverted", 14, 60_000 << 23)
    assert (second.since, second.until) == ((60_000 << 23) + 20, 120_000 << 23)


def test_what_was_reverted_is_told_again_with_every_turn() -> None:
    """The file that it is in may be read later than the one that reverts it."""
    rollout = Rollout().head().exchange("One", "1").exchange("Two", "2")
    told = rollout.parsed(uuid7(START + timedelta(minutes=1), 2)).retracted
    assert [item.since for item in told if isinstance(item, Retracted)] == [0, 0, 0]


def test_a_reverted_beginning_takes_back_everything() -> None:
    """Without a base nothing of the earlier files holds."""
    (gone,) = Rollout().head().parsed(uuid7(START + timedelta(minutes=1), 2)).retracted
    assert isinstance(gone, Retracted)
    assert gone.since == 0


def test_a_fork_by_reference_takes_nothing_back() -> None:
    """It is a thread of its own, in a file of its own."""
    base = {"thread_id": ID, "end_ordinal_exclusive": 25}
    parsed = Rollout(ordinal=25).head(forked_from_id=ID, history_base=base).exchange("New", "Yes.").parsed()
    assert parsed.retracted == ()
    (facts,) = parsed.sessions.values()
    assert (facts.forked_from, facts.parent, texts(parsed)) == (ID, "", ["New", "Yes."])


def test_replayed_turns_of_the_parent_are_dropped() -> None:
    """Turns older than the thread, whatever time their records bear; the counts begin behind the parent's."""
    parent = uuid7(START - timedelta(hours=1), 9)
    fork = Rollout(ordinal=None).head(forked_from_id=parent).head(parent)
    fork.begin(uuid7(START - timedelta(minutes=30), 10)).user("Old").reply("Old too")
    fork.event("token_count", **usage(900, 900)).event("thread_rolled_back", num_turns=5)
    fork.exchange("New", "Yes.").event("token_count", **usage(1200, 300))
    parsed = fork.parsed()
    (facts,) = parsed.sessions.values()
    assert (texts(parsed), parsed.retracted, facts.title) == (["New", "Yes."], (), "New")
    assert facts.extra["usage"] == {"input": 200, "output": 0, "cache_read": 100, "cache_write": 0}


def test_a_subagents_own_history_begins_where_its_head_says() -> None:
    """Records with smaller ordinals are its parent's, whatever their turns are called."""
    child = Rollout().head(parent_thread_id=ID, subagent_history_start_ordinal=4)
    child.user("The parent's words.").reply("The parent's too.").exchange("Task", "Done.")
    assert texts(child.parsed())[-2:] == ["Task", "Done."]
    assert "The parent's words." not in texts(child.parsed())


def test_items_that_name_another_thread_are_dropped() -> None:
    """A completed item says whose it is."""
    rollout = Rollout().head().begin()
    item = {"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": "Not mine."}]}
    assert texts(rollout.event("item_completed", thread_id=ID, turn_id="t", item=item).parsed()) == []


def test_a_replay_without_named_turns_gives_copies() -> None:
    """Old clients tell nothing but the parent's head: the same words in the same order are the same messages."""
    parent = Rollout(ordinal=None).head().user("Go on.").reply("Yes.").user("Go on.").reply("Yes.")
    fork = Rollout(thread=uuid7(START + timedelta(days=1), 5), ordinal=None).head().head(parent.thread)
    fork.user("Go on.").reply("Yes.").user("Go on.").reply("Yes.").user("Something else.")
    keys = [draft.key for draft in parent.parsed().drafts]
    assert [draft.key for draft in fork.parsed().drafts][:4] == keys
    assert len(set(keys)) == 4
    (facts,) = fork.parsed().sessions.values()
    assert facts.forked_from == parent.thread


def test_the_same_words_in_two_threads_are_two_messages() -> None:
    """Even where turns have no names of their own."""
    one = Rollout(ordinal=None).head().user("Go on.").parsed()
    two = Rollout(thread=uuid7(START, 5), ordinal=None).head().user("Go on.").parsed()
    assert one.drafts[0].key != two.drafts[0].key


@pytest.mark.parametrize("ordinal", [0, None])
def test_turns_that_were_rolled_back_are_taken_back(ordinal: int | None) -> None:
    """As many turns of a person as it says; what was said then and what comes later holds."""
    rollout = Rollout(ordinal=ordinal).head().exchange("One", "1").exchange("Two", "2").exchange("Three", "3")
    rollout.event("thread_rolled_back", num_turns=2).exchange("Four", "4")
    parsed = rollout.parsed()
    (gone,) = parsed.retracted
    assert isinstance(gone, Retracted)
    taken = [draft.text for draft in parsed.drafts if gone.since <= draft.ordinal < gone.until]
    assert (gone.reason, taken) == ("rolled back", ["Two", "2", "Three", "3"])
    again = rollout.event("thread_rolled_back", num_turns=2).parsed().retracted[-1]
    assert isinstance(again, Retracted)
    kept = [draft.text for draft in parsed.drafts if draft.ordinal < again.since]
    assert kept == []


def test_a_turn_that_a_person_broke_off_says_so() -> None:
    """One that was replaced by the next one was not broken off by anybody."""
    rollout = Rollout().head().begin().user("Go on.").event("turn_aborted", turn_id="", reason="interrupted")
    rollout.begin().event("turn_aborted", reason="replaced")
    (draft,) = [draft for draft in rollout.parsed().drafts if draft.kind is MessageKind.NOTICE]
    assert draft.meta == {"notice": "interrupted"}


def test_counts_are_the_threads_own() -> None:
    """They are cumulative; the cached part is told apart; when they begin anew the old ones stay."""
    rollout = Rollout().head().event("token_count", info=None).event("token_count", **usage(300, 300))
    rollout.event("token_count", **usage(900, 600)).event("token_count", **usage(30, 30))
    (facts,) = rollout.parsed().sessions.values()
    assert facts.extra["usage"] == {"input": 620, "output": 14, "cache_read": 310, "cache_write": 0}


def test_facts_of_a_thread() -> None:
    """Branch, model, version, originator, folder, a name that was given, and the time it was begun."""
    meta: dict[str, Any] = {
        "git": {"branch": "moon"},
        "cli_version": "0.171.0",
        "originator": "codex-tui",
        "timestamp": "2026-03-02T09:00:00Z",
    }
    rollout = Rollout().head(**meta).begin().add("turn_context", {"model": "gpt-5.5", "cwd": "/elsewhere"})
    rollout.user("Fix the heights.").event("thread_name_updated", thread_name="Heights")
    rollout.head(git={"branch": "HEAD"})
    (facts,) = rollout.parsed().sessions.values()
    assert (facts.cwd, facts.branch, facts.model, facts.version) == ("/home/dev/tides", "moon", "gpt-5.5", "0.171.0")
    assert (facts.title, facts.extra["originator"]) == ("Heights", "codex-tui")
    assert facts.started_at == Micros(round(START.timestamp() * 1e6))


def test_what_no_rule_knows_is_counted_where_it_is() -> None:
    """Events, response items and completed items each by their own kind."""
    rollout = Rollout().head().event("new_event").item("new_item").done("NewDone", "x").event("warning", message="slow")
    assert rollout.parsed().unknown == {"event_msg.new_event": 1, "response_item.new_item": 1, "item.NewDone": 1}


def test_bare_records_of_old_clients_are_read() -> None:
    """No envelope, no times; the first one has the thread's id."""
    head = {"id": ID, "timestamp": "2025-08-01T07:00:00Z", "instructions": None, "git": {"branch": "main"}}
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]}
    parsed = READER.parse(READER.start(Place(), at=Micros(1)), [head, {"record_type": "state"}, item, item])
    assert (texts(parsed), list(parsed.sessions)) == (["Go on."], [ID])
    assert parsed.drafts[0].created_at == 1_754_031_600_000_000
    assert READER.recognises(head)
    assert READER.recognises(item)
    assert not READER.recognises({"type": "message", "role": "user", "content": "Go on."})
