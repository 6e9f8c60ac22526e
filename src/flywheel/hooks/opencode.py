"""opencode's hooks: a plugin of ours that runs inside it, what it sends, what it is answered, and its files.

| moment | opencode 1.x (``opencode.js``) | opencode 2.x (``opencode-v2/``) |
|---|---|---|
| session starts | first ``experimental.chat.system.transform``; a system text, kept as it is | first ``context`` |
| prompt | ``chat.message``; a synthetic part behind the person's words | ``prompt`` hook; a further system text |
| turn end, also a subagent's | ``session.idle`` | ``session.execution.succeeded`` and its like |
| session end | ``session.deleted`` only | ``session.deleted`` only |
| compaction | ``session.compacted``: the next request gets a new briefing | ``session.compaction.ended`` |
| tool result | ``tool.execute.after``; an error as ``message.part.updated`` | ``execute.after`` |

The plugin's payloads are in Claude Code's keys: other plugins run Claude Code's hooks inside opencode with those. Its
events name no transcript: sessions are in a database.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

import orjson

from flywheel.api import Briefing
from flywheel.errors import Defect
from flywheel.hooks import fields
from flywheel.hooks.client import MAX_ANSWER
from flywheel.hooks.fields import text
from flywheel.hooks.moment import Moment, What
from flywheel.hooks.wanted import Wanted

AGENT: Final = "opencode"
HOOKS: Final[tuple[Wanted, ...]] = ()
"""No settings: the plugin's files are all there is."""

ASSETS: Final[Mapping[str, Mapping[str, str]]] = {
    "1": {"flywheel.js": "opencode.js"},
    "2": {"flywheel/index.ts": "opencode-v2/index.ts", "flywheel/package.json": "opencode-v2/package.json"},
}
"""Major version → path below opencode's ``plugins`` folder → file in ``hooks/assets``."""

MARKER: Final = "const COMMAND = []"
"""The line of a plugin that the installation replaces by the hook client's command, without event and agent."""

STORE: Final = "opencode*.db"
"""The databases below opencode's data folder; one per release channel."""

_WHAT: Final = {
    "SessionStart": What.START,
    "UserPromptSubmit": What.PROMPT,
    "Stop": What.TURN_END,
    "SubagentStop": What.SUBAGENT_END,
    "PreCompact": What.OTHER,  # other plugins'
    "PostCompact": What.COMPACT,
    "SessionEnd": What.END,
    "PostToolUse": What.TOOL,
    "PostToolUseFailure": What.TOOL,
}
_TWIN: Final = ("twin", "tool_use_id", "prompt", "source")


def plugin(asset: str, command: Sequence[str]) -> bytes:
    """A file of `ASSETS` as it is installed. ``command`` runs the hook client: interpreter, ``-I -S``, script.

    Raises Defect when the file has lost its marker.
    """
    found = files("flywheel.hooks").joinpath("assets", asset).read_text(encoding="utf-8")
    if asset.endswith(".json"):
        return found.encode()
    if found.count(f"\n{MARKER}\n") != 1:
        raise Defect(f"the plugin {asset} has not exactly one line {MARKER!r}")
    return found.replace(f"\n{MARKER}\n", f"\nconst COMMAND = {json.dumps(list(command))}\n").encode()


def understand(event: str, payload: Mapping[str, object]) -> Moment:
    """The payload as a `Moment`. Fields that are missing or of another type are empty."""
    name = text(payload, "hook_event_name") or event
    what = _WHAT.get(name, What.OTHER)
    helper = bool(text(payload, "parent_id"))
    prompt = text(payload, "prompt")
    code = payload.get("exit")
    return Moment(
        what=What.SUBAGENT_END if helper and what is What.TURN_END else what,
        session=text(payload, "session_id"),
        cwd=text(payload, "cwd"),
        source=text(payload, "source", "reason", "trigger"),
        prompt="" if prompt.lstrip().startswith("/") else prompt,
        twin="\0".join(text(payload, key) for key in _TWIN),
        subagent=helper,
        restarts=what is What.COMPACT,
        store=STORE,
        tool=text(payload, "tool_name"),
        failed=name == "PostToolUseFailure" or (isinstance(code, int) and code != 0),
        facts=fields.tool_facts(fields.part(payload, "tool_input"), text(payload, "error"))
        if what is What.TOOL
        else {},
    )


def answer(event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
    """The bytes for our plugin: ``{"additionalContext": text}``, or nothing."""
    name = text(payload, "hook_event_name") or event
    if not briefing.text or _WHAT.get(name) not in (What.START, What.PROMPT):
        return b""
    body = orjson.dumps({"additionalContext": briefing.text})
    return body if len(body) <= MAX_ANSWER else b""
