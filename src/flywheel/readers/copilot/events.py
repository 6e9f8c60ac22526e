"""Events of Copilot CLI, each to the handler of its kind; kinds without a rule are counted (FORMATS §6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from flywheel.model import MessageKind, Role
from flywheel.readers.claude.tools import asks_us
from flywheel.readers.copilot.kinds import FAMILIES, QUIET
from flywheel.readers.copilot.ledger import SPAWN, START, Event, Ledger, title_of
from flywheel.readers.copilot.state import brief, load
from flywheel.readers.copilot.tools import agent_of, called, finished, is_ours
from flywheel.readers.fields import clip, list_of, mapping_of, micros_of, native, text_of, true, whole
from flywheel.readers.learned import Facts
from flywheel.readers.seam import Carry, Parsed, Record, Retracted

_USAGE: Final[Mapping[str, str]] = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadTokens": "cache_read",
    "cacheWriteTokens": "cache_write",
}
_ASSISTANT, _TOOL = Role.ASSISTANT, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_THINKING, _REPLY = MessageKind.THINKING, MessageKind.REPLY
_TOOL_CALL, _TOOL_RESULT = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT
_TYPED: Final = ("", "user", "immediate-prompt")
_SKILL: Final = "<skill-context"
_FILES: Final = 20


def _started(on: Ledger, event: Event) -> None:
    """A session begins, or is resumed."""
    facts, data = on.facts[event.session], event.data
    _where(facts, mapping_of(data.get("context")))
    facts.model = text_of(data.get("selectedModel"))[:120] or facts.model
    facts.version = text_of(data.get("copilotVersion"))[:60] or facts.version
    begun = micros_of(data.get("startTime"))
    if begun is not None:
        on.date(facts, begun)
    parent = native(data.get("detachedFromSpawningParentSessionId"))
    if parent and not event.child:
        on.state.parent = on.state.parent or parent
        facts.parent = on.state.parent


def _moved(on: Ledger, event: Event) -> None:
    _where(on.facts[event.session], mapping_of(event.data.get("context")) or event.data)


def _where(facts: Facts, context: Mapping[str, Any]) -> None:
    facts.cwd = facts.cwd or text_of(context.get("cwd"))[:4096]
    facts.branch = text_of(context.get("branch"))[:250] or facts.branch


def _model(on: Ledger, event: Event) -> None:
    facts = on.facts[event.session]
    facts.model = text_of(event.data.get("newModel"))[:120] or facts.model


def _titled(on: Ledger, event: Event) -> None:
    if not event.child:
        on.state.title = title_of(text_of(event.data.get("title"))) or on.state.title


def _user(on: Ledger, event: Event) -> None:
    """A person's words, what an agent is told, or what the client says in the person's place."""
    data = event.data
    text, source = text_of(data.get("content")), text_of(data.get("source"))
    if source.startswith("skill-") or text.lstrip().startswith(_SKILL):
        return
    if event.child or source.startswith("agent-"):
        if event.child and on.state.entitled(event.session):
            on.of(event).title = title_of(text)
        on.draft(event, Role.ASSISTANT, MessageKind.NOTICE, text, meta={"notice": "task"})
    elif source not in _TYPED or true(data.get("isAutopilotContinuation")):
        meta = {"notice": clip(source, 80) or "continue"}
        on.draft(event, Role.SYSTEM, MessageKind.NOTICE, text, meta=meta)
    else:
        on.state.prompt = on.state.prompt or title_of(text)
        on.state.prompted(event.id)
        on.draft(event, Role.USER, MessageKind.PROMPT, text, meta=_attached(data))


def _attached(data: Mapping[str, Any]) -> dict[str, object]:
    meta: dict[str, object] = {}
    attachments = [mapping_of(one) for one in list_of(data.get("attachments"))]
    files = [path for one in attachments if (path := text_of(one.get("path")) or text_of(one.get("filePath")))]
    if files:
        meta["files"] = [clip(path, 1000) for path in files[:_FILES]]
    images = sum(text_of(one.get("mimeType")).startswith("image/") for one in attachments)
    if images:
        meta["images"] = images
    return meta


def _reasoned(on: Ledger, event: Event) -> None:
    _think(on, event, text_of(event.data.get("content")))


def _think(on: Ledger, event: Event, text: str) -> None:
    if text and on.state.thought(text):
        on.draft(event, _ASSISTANT, _THINKING, text, part="thought")


def _assistant(on: Ledger, event: Event) -> None:
    """A message of the model: its reasoning, its prose, the tools it asks for."""
    data, facts = event.data, on.facts[event.session]
    facts.model = text_of(data.get("model"))[:120] or facts.model
    _think(on, event, text_of(data.get("reasoningText")))
    on.draft(event, _ASSISTANT, _REPLY, text_of(data.get("content")))
    for number, request in enumerate(map(mapping_of, list_of(data.get("toolRequests"))), 1):
        _call(on, event, request, native(request.get("name")), part=number)


def _tool_started(on: Ledger, event: Event) -> None:
    """A tool runs; a call that no message asked for is told here alone."""
    if native(event.data.get("toolCallId")) not in on.state.calls:
        _call(on, event, event.data, native(event.data.get("toolName")), part=0)


def _call(on: Ledger, event: Event, fields: Mapping[str, Any], tool: str, *, part: int) -> None:
    call_id = native(fields.get("toolCallId"))
    text, meta, arguments = called(tool, fields.get("arguments"))
    own = is_ours(fields, tool)
    if own:
        text, meta = "", {}  # what it is told is no statement of the model's
    if call_id:
        on.state.call(call_id, tool, own or asks_us(arguments))
    empty = bool(tool or call_id)
    on.draft(event, _ASSISTANT, _TOOL_CALL, text, part=part, tool=tool, call_id=call_id, meta=meta, empty=empty)


def _tool_finished(on: Ledger, event: Event) -> None:
    data = event.data
    call_id = native(data.get("toolCallId"))
    tool, own = on.state.calls.get(call_id) or (native(data.get("toolName")), False)
    if own:
        return
    text, meta, failed = finished(data, tool)
    agent = agent_of(data) or on.state.agents.get(call_id, "")
    if agent:
        meta["agent"] = agent
    empty = call_id != ""
    on.draft(event, _TOOL, _TOOL_RESULT, text, tool=tool, call_id=call_id, is_error=failed, meta=meta, empty=empty)


def _permitted(on: Ledger, event: Event) -> None:
    """What a person said when refusing a tool's use."""
    result = mapping_of(event.data.get("result"))
    if text_of(result.get("kind")).startswith("denied"):
        said = text_of(result.get("feedback"))
        on.draft(event, Role.USER, MessageKind.PROMPT, said, meta={"notice": "refused"})


def _agent_started(on: Ledger, event: Event) -> None:
    """An agent begins; older clients name it by the call that started it."""
    data, call_id = event.data, native(event.data.get("toolCallId"))
    agent = event.session if event.child else call_id
    if not agent:
        return
    if call_id:
        on.state.spawned(call_id, agent)
    facts = on.of(event, agent, native(data.get("parentId")))
    facts.model = text_of(data.get("model"))[:120] or facts.model
    names = [title_of(name) for name in map(text_of, (data.get("agentDisplayName"), data.get("agentDescription")))]
    title = clip(": ".join(filter(None, names)), 120)
    if title and on.state.entitled(agent):
        facts.title = title
    kind = text_of(data.get("agentType")) or text_of(data.get("agentName"))
    if kind:
        facts.extra["agent_type"] = kind[:80]


def _agent_ended(on: Ledger, event: Event) -> None:
    call_id = native(event.data.get("toolCallId"))
    agent = event.session if event.child else on.state.agents.get(call_id, call_id)
    if not agent:
        return
    on.of(event, agent).ended = event.at
    event.session = agent
    why = text_of(event.data.get("error"))
    on.draft(event, Role.SYSTEM, MessageKind.NOTICE, why, is_error=True, meta={"notice": "agent failed"})


def _trouble(on: Ledger, event: Event) -> None:
    data = event.data
    text, kind = text_of(data.get("message")), text_of(data.get("errorType")) or text_of(data.get("warningType"))
    meta = {"notice": clip(kind, 80)} if kind else {}
    on.draft(event, Role.SYSTEM, MessageKind.NOTICE, text, is_error="warningType" not in data, meta=meta)


def _aborted(on: Ledger, event: Event) -> None:
    reason = clip(text_of(event.data.get("reason")), 200)
    text = f"[Aborted: {reason}]" if reason else "[Aborted]"
    on.draft(event, Role.USER, MessageKind.NOTICE, text, meta={"notice": "interrupted"})


def _compacted(on: Ledger, event: Event) -> None:
    if event.data.get("success") is False:
        return
    on.state.compactions += not event.child
    on.draft(event, Role.ASSISTANT, MessageKind.SUMMARY, text_of(event.data.get("summaryContent")))


def _handed_over(on: Ledger, event: Event) -> None:
    on.draft(event, Role.ASSISTANT, MessageKind.SUMMARY, text_of(event.data.get("summary")))


def _rewound(on: Ledger, event: Event) -> None:
    """That event and all after it are taken back; newer clients cut their log instead."""
    state = on.state
    since = state.prompts.get(brief(native(event.data.get("upToEventId"))))
    if since is not None and since < state.count:
        session, until = state.session, state.count
        on.retracted.append(Retracted(reason="rewound", session=session, since=since, until=until, at=event.at))


def _ended(on: Ledger, event: Event) -> None:
    """The session ends; what it came to."""
    facts, data, state = on.facts[event.session], event.data, on.state
    facts.ended = event.at
    told = data if "modelMetrics" in data else mapping_of(data.get("accountingSnapshot"))
    facts.model = text_of(told.get("currentModel"))[:120] or facts.model
    changes = mapping_of(told.get("codeChanges"))
    state.modified([clip(path, 1000) for path in map(text_of, list_of(changes.get("filesModified"))) if path])
    totals = dict.fromkeys(_USAGE.values(), 0)
    for metric in mapping_of(told.get("modelMetrics")).values():
        usage = mapping_of(mapping_of(metric).get("usage"))
        for name, kind in _USAGE.items():
            totals[kind] += max(whole(usage.get(name)) or 0, 0)
    if any(totals.values()):
        state.spend(totals)


HANDLERS: Final[Mapping[str, Callable[[Ledger, Event], None]]] = {
    START: _started,
    "session.resume": _started,
    "session.context_changed": _moved,
    "session.model_change": _model,
    "session.title_changed": _titled,
    "session.error": _trouble,
    "session.warning": _trouble,
    "session.compaction_complete": _compacted,
    "session.handoff": _handed_over,
    "session.snapshot_rewind": _rewound,
    "session.shutdown": _ended,
    "user.message": _user,
    "assistant.message": _assistant,
    "assistant.reasoning": _reasoned,
    "tool.user_requested": _tool_started,
    "tool.execution_start": _tool_started,
    "tool.execution_complete": _tool_finished,
    "permission.completed": _permitted,
    SPAWN: _agent_started,
    "subagent.completed": _agent_ended,
    "subagent.failed": _agent_ended,
    "abort": _aborted,
}


def parse(carry: Carry, records: Sequence[Record]) -> Parsed:
    """Drafts, facts and retractions of some events after those that the carry stands for."""
    ledger = Ledger(load(carry))
    for record in records:
        kind = record.get("type")
        handler = HANDLERS.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(ledger, ledger.event(record))
        elif not isinstance(kind, str) or not is_known(kind):
            ledger.count(kind)
    return ledger.close()


def is_known(kind: str) -> bool:
    """Whether it is the name of an event of this agent."""
    return kind in HANDLERS or kind in QUIET or kind.startswith(FAMILIES)
