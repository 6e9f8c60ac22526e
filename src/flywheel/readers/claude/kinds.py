"""The record kinds of Claude Code that are known (FORMATS §1.2, §1.5, §1.6): what is read, and what is passed over."""

from __future__ import annotations

from typing import Final

CHAIN: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Records of the conversation itself; they have a uuid."""

_SIDE = """
summary file-history-snapshot file-history-delta queue-operation custom-title ai-title agent-name agent-setting
agent-color tag mode permission-mode last-prompt pr-link frame-link worktree-state relocated bridge-session
content-replacement atis-latch tools-used cost-state api-request api-request-blob api-request-shape session-state
"""
SIDE: Final = frozenset(_SIDE.split())
"""Metadata beside the conversation."""

_SUBTYPES = """
microcompact_boundary local_command turn_duration stop_hook_summary bridge_status scheduled_task_fire informational
session_start model_refusal_fallback
"""
QUIET_SUBTYPES: Final = frozenset(_SUBTYPES.split())
"""System records that say nothing worth remembering."""

_ATTACHMENTS = """
hook_success hook_additional_context hook_non_blocking_error hook_blocking_error hook_cancelled
hook_error_during_execution hook_system_message hook_stopped_continuation file edited_text_file directory
compact_file_reference nested_memory relevant_memories skill_listing dynamic_skill invoked_skills deferred_tools_delta
deferred_tools_record mcp_instructions_delta agent_listing_delta command_permissions task_reminder todo_reminder
task_status goal_status plan_mode plan_mode_exit plan_mode_reentry auto_mode ultra_effort_enter ultra_effort_exit
date_change date budget_usd total_tokens_reminder batching_reminder_sent silent_turn_reminder read_truncation_notice
prompt_snapshot environment model session_context remote_session_change
"""
QUIET_ATTACHMENTS: Final = frozenset(_ATTACHMENTS.split())
"""Attachments that the client makes: never what a person said, and the place where our own briefing comes back."""

QUIET_BLOCKS: Final = frozenset({"image", "document", "redacted_thinking", "fallback"})
"""Content blocks without text to keep."""
