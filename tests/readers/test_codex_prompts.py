"""Who said what in a rollout of Codex: prompts apart from injected text, and each text once."""

from __future__ import annotations

import pytest
from tests.readers.codexing import Rollout, only, texts

from flywheel.model import MessageKind, Role
from flywheel.readers.codex.speech import spoken
from flywheel.text.compose import FENCE_CLOSE, FENCE_OPEN

PROMPT, REPLY, NOTICE = MessageKind.PROMPT, MessageKind.REPLY, MessageKind.NOTICE

INJECTED = (
    "<environment_context>\n  <cwd>/home/dev</cwd>\n</environment_context>",
    "<user_instructions>\nbe brief\n</user_instructions>",
    "# AGENTS.md instructions for /home/dev\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>",
    "<permissions instructions>\nnone\n</permissions instructions>",
    "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
    "<subagent_notification>\n{}\n</subagent_notification>",
    "<goal>finish</goal>",
    "<skill>\n<name>tides</name>\n</skill>",
    "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
    "<some_new_block_of_the_client>\nanything\n</some_new_block_of_the_client>",
)


@pytest.mark.parametrize("text", INJECTED)
def test_what_the_client_puts_into_the_users_turn_is_no_prompt(text: str) -> None:
    """Neither where an event tells the prompt, nor where only the model's input is there."""
    with_event = Rollout().head().begin().got(text).user("Go on.").reply("Yes.").parsed()
    without = Rollout().head().begin().got(text).got("Go on.").reply("Yes.").parsed()
    assert texts(with_event) == texts(without) == ["Go on.", "Yes."]


def test_an_event_decides_what_of_the_models_input_was_said() -> None:
    """Text of the client that no rule knows is no prompt when the event names other words."""
    parsed = Rollout().head().begin().got("Today is Monday.").got("Go on.").said("Go on.").reply("Yes.").parsed()
    assert texts(parsed, PROMPT) == ["Go on."]


def test_tagged_input_is_a_prompt_only_where_its_tag_says_so() -> None:
    """The kinds that newer clients write decide without looking at the text."""
    rollout = Rollout().head().begin()
    rollout.got("Remember the datum.", ["hooks.additional_context"]).got("Go on.", ["user.text"]).reply("Yes.")
    assert texts(rollout.parsed(), PROMPT) == ["Go on."]


def test_what_developers_say_is_not_kept() -> None:
    """Messages of the role developer are the client's."""
    content = [{"type": "input_text", "text": "You must use metres."}]
    parsed = Rollout().head().begin().item("message", role="developer", content=content).user("Go on.").parsed()
    assert texts(parsed) == ["Go on."]


@pytest.mark.parametrize("ordinal", [0, None])
def test_each_prompt_and_reply_counts_once(ordinal: int | None) -> None:
    """Both histories tell everything twice; what was said twice stays twice."""
    rollout = Rollout(ordinal=ordinal).head().begin()
    parsed = rollout.user("Continue").reply("Done.").reply("Done.").user("Continue").reply("Done.").parsed()
    assert texts(parsed) == ["Continue", "Done.", "Done.", "Continue", "Done."]
    assert len({draft.key for draft in parsed.drafts}) == 5


def test_all_three_channels_at_once_are_one() -> None:
    """Some builds write the old event and the completed item beside the response item."""
    rollout = Rollout().head().begin().got("Go on.").event("user_message", message="Go on.").said("Go on.")
    rollout.event("agent_message", message="Yes, at  once.").reply("Yes, at once.")
    assert texts(rollout.parsed()) == ["Go on.", "Yes, at  once."]


@pytest.mark.parametrize("end", ["task_complete", "turn_aborted", "thread_rolled_back"])
def test_a_prompt_that_only_the_models_input_tells_is_kept(end: str) -> None:
    """It waits for its event, and whatever else comes first settles it."""
    parsed = Rollout().head().begin().got("Go on.").event(end).parsed()
    assert texts(parsed, PROMPT) == ["Go on."]


def test_a_prompt_waits_for_its_event_over_the_end_of_a_read() -> None:
    """Nothing is told before it is known whether an event comes; its time and place are then the prompt's own."""
    rollout = Rollout().head().begin().got("Go on.")
    assert texts(rollout.parsed()) == []
    (draft,) = rollout.event("task_complete").parsed().drafts
    assert (draft.ordinal, draft.created_at % 60_000_000) == (2, 4_000_000)


def test_the_words_behind_the_heading_are_the_prompt() -> None:
    """Editors put their context before it."""
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nRename it.\n"
    assert only(Rollout().head().begin().user(text).parsed(), PROMPT).text == "Rename it."
    assert spoken("Say '## My request for Codex:' aloud") == "Say '## My request for Codex:' aloud"


def test_images_are_counted_and_never_kept() -> None:
    """The text around an image that clients write for the model is no prompt either."""
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is this?"},
    ]
    draft = only(
        Rollout().head().begin().item("message", role="user", content=content).reply("A gauge.").parsed(), PROMPT
    )
    assert (draft.text, draft.meta) == ("What is this?", {"images": 1})
    event = [{"type": "text", "text": "And this?"}, {"type": "local_image", "path": "/tmp/a.png"}]
    assert only(Rollout().head().begin().done("UserMessage", "it", content=event).parsed(), PROMPT).meta == {
        "images": 1
    }


def test_what_a_subagent_is_told_is_a_task() -> None:
    """Nobody typed it."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "agent_role": "explorer"}}}
    parsed = Rollout().head(source=source).begin().user("List the gauges.").reply("north-1").parsed()
    draft = only(parsed, NOTICE)
    assert (draft.role, draft.meta, texts(parsed, PROMPT)) == (Role.ASSISTANT, {"notice": "task"}, [])
    (facts,) = parsed.sessions.values()
    assert (facts.parent, facts.title, facts.extra["agent_type"]) == ("p", "List the gauges.", "explorer")


def test_a_guardians_task_repeats_another_thread_and_is_left_out() -> None:
    """It holds the transcript that is to be judged."""
    parsed = (
        Rollout().head(source={"subagent": {"other": "guardian"}}).begin().user("Judge: rm -rf").reply("No.").parsed()
    )
    assert texts(parsed) == ["No."]


def test_our_briefing_in_a_prompt_is_cut_out_on_every_channel() -> None:
    """What is left is the same text on each of them."""
    text = f"{FENCE_OPEN}\nold\n{FENCE_CLOSE}\nGo on."
    parsed = Rollout().head().begin().got(text).said("Go on.").reply(f"Yes. {FENCE_OPEN} old {FENCE_CLOSE}").parsed()
    assert [text.strip() for text in texts(parsed)] == ["Go on.", "Yes."]


def test_thoughts_are_kept_section_by_section() -> None:
    """The old events tell one at a time, the response item all of them."""
    rollout = (
        Rollout(ordinal=None).head().begin().event("agent_reasoning", text="One").event("agent_reasoning", text="Two")
    )
    rollout.item(
        "reasoning", summary=[{"type": "summary_text", "text": "One"}, {"type": "summary_text", "text": "Two"}]
    )
    assert texts(rollout.parsed()) == ["One", "Two"]


def test_a_summary_is_told_once_and_the_history_it_replaces_never_again() -> None:
    """Neither the model's own summary nor the kept messages are speech."""
    rollout = Rollout().head().begin().user("Go on.")
    content = [{"type": "output_text", "text": "Summary: we go on."}]
    rollout.add(
        "response_item",
        {"type": "message", "role": "assistant", "content": content},
        metadata={"compaction_output": True},
    )
    kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Secretly more."}]}]
    rollout.add("compacted", {"message": "Summary: we go on.", "replacement_history": kept}).event("context_compacted")
    parsed = rollout.parsed()
    assert texts(parsed) == ["Go on.", "Summary: we go on."]
    assert only(parsed, MessageKind.SUMMARY).role is Role.ASSISTANT
    (facts,) = parsed.sessions.values()
    assert facts.extra["compactions"] == 1
