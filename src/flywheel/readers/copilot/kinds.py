"""The event kinds of Copilot CLI that say nothing to remember (FORMATS §6)."""

from __future__ import annotations

from typing import Final

_EVENTS: Final = """
session.remote_steerable_changed session.idle session.info session.schedule_created session.schedule_cancelled
session.schedule_rearmed session.autopilot_objective_changed session.indexed_search session.model_deselected
session.auto_tier_recommendation session.auto_tier_switch_failed session.auto_mode_resolved session.mode_changed
session.mode_notice_delivered session.session_limits_changed session.permissions_changed session.permission_recovery
session.plan_changed session.todos_changed session.workspace_file_changed session.truncation session.usage_checkpoint
session.usage_info session.usage_record session.quota_observation session.context_cleared session.compaction_start
session.task_complete session.completion_receipt session.custom_notification session.tools_updated
session.background_tasks_changed session.skills_loaded session.custom_agents_updated session.mcp_servers_loaded
session.mcp_server_status_changed session.mcp_server_removed session.mcp_server_needs_reconnect
session.extensions_loaded session.binary_asset session.import_legacy pending_messages.modified assistant.turn_start
assistant.turn_retry assistant.turn_end assistant.intent assistant.idle assistant.usage assistant.message_start
assistant.message_delta assistant.reasoning_delta assistant.tool_call_delta assistant.streaming_delta
assistant.server_tool_progress agent.interrupted prompt_cache_break tool.execution_partial_result tool.shell_output
tool.execution_progress tool_search.activated sandbox.decision subagent.configured subagent.selected
subagent.deselected system.message system.notification human_response.recorded commands.changed capabilities.changed
"""
QUIET: Final = frozenset(_EVENTS.split())
"""Progress, settings, the client's own prompts, and copies of what other events say."""

_FAMILIES: Final = """
model. hook. skill. permission. mcp. mcp_app. command. elicitation. sampling. user_input. external_tool. ui. factory.
workflow. auto_mode_switch. session_limits_exhausted. exit_plan_mode. session.canvas. session.extensions.
session.fusion_ session.managed_ assistant.fusion_
"""
FAMILIES: Final = tuple(_FAMILIES.split())
"""Openings of the names of quiet kinds. Some of them hold whole conversations over again."""
