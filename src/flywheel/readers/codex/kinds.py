"""The record kinds of Codex that are known and passed over, and those of old clients (FORMATS §2.2)."""

from __future__ import annotations

from typing import Final

_RECORDS = """
world_state token_usage_record inter_agent_communication_metadata realtime_item retained_context security_risk_score
"""
QUIET_RECORDS: Final = frozenset(_RECORDS.split())
"""Records about the client's own state."""

_RESPONSE_ITEMS = """
tool_search_call tool_search_output ghost_snapshot compaction context_compaction compaction_trigger additional_tools
other
"""
QUIET_ITEMS: Final = frozenset(_RESPONSE_ITEMS.split())
"""Response items that say nothing, or nothing that can be read."""

_EVENTS = """
thread_settings_applied context_compacted entered_review_mode exited_review_mode sub_agent_activity warning
guardian_warning guardian_assessment thread_goal_updated undo_started undo_completed deprecation_notice plan_update
view_image_tool_call image_generation_end session_configured exec_command_begin exec_command_output_delta
patch_apply_begin mcp_tool_call_begin web_search_begin agent_reasoning_section_break turn_diff background_event
stream_error collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin
collab_agent_interaction_end collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end
collab_resume_begin collab_resume_end shutdown_complete item_started mcp_startup_complete terminal_interaction
dynamic_tool_call_request dynamic_tool_call_response hook_started hook_completed model_reroute request_user_input
exec_approval_request apply_patch_approval_request project_validation_completed turn_moderation_metadata
"""
QUIET_EVENTS: Final = frozenset(_EVENTS.split())
"""Events about the client, and beginnings whose ends are read."""

_DONE = "HookPrompt CollabAgentToolCall SubAgentActivity ImageView ImageGeneration Sleep ContextCompaction"
QUIET_DONE: Final = frozenset(_DONE.split())
"""Completed items that say nothing which is not said elsewhere."""

_FLAT = "message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call"
FLAT_ITEMS: Final = frozenset(_FLAT.split())
"""Response items that clients before 0.32 wrote bare."""
