"""Tells what a person typed from what Cursor put around it, and what it says beside: time, folder, images."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from flywheel.model import Micros

_TAGS: Final = (
    "user_info|git_status|open_and_recently_viewed_files|recently_viewed_files|open_files|project_context|"
    "project_layout|additional_data|attached_files|rules|user_rules|always_applied_workspace_rules|"
    "agent_requestable_workspace_rules|agent_skills|available_skills|manually_attached_skills|agent_transcripts|"
    "system_reminder|system-reminder|system_notification|external_links|image_files|terminal_files_information|"
    "terminal_state|mcp_file_system|mcp_file_system_servers|mcp_instructions|mcp_meta_tools|mcp_meta_tool_servers|"
    "dynamic_tools|available_subagent_types|available_subagent_models|hooks_context|cursor_commands|plugin_info|"
    "linter_errors|current_file|selection|selected_code|conversation_summary|communication|task_notification|"
    "task-notification|timestamp"
)
_CONTEXT: Final = re.compile(rf"<({_TAGS})\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL)
_QUERY: Final = re.compile(r"<user_query>\s*(.*?)\s*(?:</user_query>|\Z)", re.DOTALL)
_TIME: Final = re.compile(r"<timestamp>([^<]{6,80})</timestamp>")
_CLOCK: Final = re.compile(
    r"(?:[A-Za-z]+, )?([A-Za-z]{3})[a-z]* (\d{1,2}), (\d{4}), (\d{1,2}):(\d{2})(?::(\d{2}))?\s?([AP]M)"
    r"(?: \((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\))?"
)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FOLDER: Final = re.compile(r"^Workspace Paths?: (/[^\n]{1,1000})$", re.MULTILINE)
_HIDDEN: Final = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_GAP: Final = re.compile(r"\n{3,}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_OPEN: Final = "<user_query>"
_CLOSE: Final = "</user_query>"
_IMAGE: Final = "[Image]"
_REDACTED: Final = "[REDACTED]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A user's turn: the person's words, and what was found beside them."""

    text: str = ""
    at: Micros | None = None
    folder: str = ""  # the workspace that the client names in the turn before the first
    images: int = 0


def said(text: str) -> Said:
    """What a person said in a user's turn; no text where everything in it is the client's."""
    if "<" not in text:
        return Said(text=text.strip())
    at = moment(time[1]) if "<timestamp>" in text and (time := _TIME.search(text)) else None
    folder = _FOLDER.search(text) if "<user_info>" in text else None
    first, last = text.find(_OPEN), text.rfind(_CLOSE)
    if first < 0:
        words, around = _CONTEXT.sub("", text), text
    else:
        last = last if last > first else len(text)
        words, around = text[first + len(_OPEN) : last], text[:first] + text[last:]
        if _OPEN in words:  # several questions in one turn
            words = "\n\n".join(_QUERY.findall(text))
    images = 0
    if _IMAGE in around:
        images = sum(line == _IMAGE for line in around.split("\n"))
        words = words if first >= 0 else "\n".join(line for line in words.split("\n") if line != _IMAGE)
    return Said(text=words.strip(), at=at, folder=folder[1].strip() if folder else "", images=images)


@lru_cache(maxsize=256)
def moment(text: str) -> Micros | None:
    """A time as Cursor writes it, like ``Sunday, Jul 26, 2026, 1:06 PM (UTC+3)``; no zone: UTC; None for others."""
    found = _CLOCK.search(text)
    if found is None or found[1].title() not in _MONTHS:
        return None
    name, day, year, hour, minute, second, half, sign, ahead, more = found.groups()
    offset = timedelta(hours=int(ahead or 0), minutes=int(more or 0)) * (-1 if sign == "-" else 1)
    try:
        when = datetime(
            int(year),
            _MONTHS.index(name.title()) + 1,
            int(day),
            int(hour) % 12 + (12 if half == "PM" else 0),
            int(minute),
            int(second or 0),
            tzinfo=UTC,
        )
        return Micros(round((when - offset - _EPOCH).total_seconds()) * 1_000_000)
    except (ValueError, OverflowError):
        return None


def plain(text: str) -> str:
    """A reply as Cursor's own transcripts have it: without hidden thinking, marks of it and wide gaps."""
    if "<" in text and "<think" in text:
        text = _HIDDEN.sub("", text)
    while text.endswith(_REDACTED):
        text = text[: -len(_REDACTED)].rstrip()
    if "[" in text and _REDACTED in text:
        text = "\n".join(line for line in text.split("\n") if line.strip() != _REDACTED)
    return _GAP.sub("\n\n", text).strip() if "\n\n\n" in text else text.strip()
