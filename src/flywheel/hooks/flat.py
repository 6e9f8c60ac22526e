"""Our hooks where an event's list holds handlers without groups (Cursor's ``hooks.json``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flywheel.errors import BadInput
from flywheel.hooks.jsontext import Child, Node, append, parse, remove
from flywheel.hooks.wanted import is_ours

Handlers = Mapping[str, Mapping[str, object]]
"""Event → handler."""

EMPTY = '{\n  "version": 1\n}\n'


def with_handlers(text: str, wanted: Handlers) -> str:
    """The file with exactly these handlers of ours; the same text when they are there already. Raises BadInput."""
    text = _without(text if text.strip() else EMPTY, wanted)
    for event, handler in wanted.items():
        root = parse(text)
        hooks = root.member("hooks")
        if hooks is None:
            text = append(text, root, {event: [handler]}, "hooks")
            continue
        listed = hooks.node.member(event)
        if listed is None:
            text = append(text, hooks.node, [handler], event)
        elif not any(child.node.value == handler for child in listed.node.children):
            text = append(text, listed.node, handler)
    return text


def without_handlers(text: str) -> str:
    """The file without any handler of ours, and without the lists and objects that this leaves empty."""
    return _without(text, {}) if text.strip() else text


def our_command(handler: object) -> str:
    """The command of a handler of ours; "" for another's."""
    if not isinstance(handler, Mapping):
        return ""
    return next((str(handler[key]) for key in ("command", "bash") if is_ours(handler.get(key))), "")


def _without(text: str, keep: Handlers) -> str:
    while (found := _next_cut(parse(text), keep)) is not None:
        text = remove(text, *found)
    return text


def _next_cut(root: Node, keep: Handlers) -> tuple[Node, Child] | None:
    kept: set[str] = set()
    for events, handler in _handlers(root):
        event = str(events.key)
        if not our_command(handler.node.value):
            continue
        if event not in kept and handler.node.value == keep.get(event):
            kept.add(event)
            continue
        hooks = root.member("hooks")
        if len(events.node.children) > 1:
            return events.node, handler
        if hooks is not None:
            return (hooks.node, events) if len(hooks.node.children) > 1 or event in keep else (root, hooks)
    return None


def _handlers(root: Node) -> Iterator[tuple[Child, Child]]:
    """Every handler as (its event's member, itself). Raises BadInput for another shape."""
    if not isinstance(root.value, dict):
        raise BadInput("the settings are not a JSON object; mend them first")
    hooks = root.member("hooks")
    if hooks is not None and not isinstance(hooks.node.value, dict):
        raise BadInput('"hooks" is not an object; mend it first')
    for events in hooks.node.children if hooks else ():
        if not isinstance(events.node.value, Sequence) or isinstance(events.node.value, str):
            raise BadInput(f'"hooks" → "{events.key}" is not a list; mend it first')
        for handler in events.node.children:
            yield events, handler
