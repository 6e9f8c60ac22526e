"""Our hooks in the text of a settings file: put in, taken out, everything else left byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flywheel.errors import BadInput
from flywheel.hooks.jsontext import Child, Node, append, parse, remove
from flywheel.hooks.wanted import Wanted, is_ours


def with_hooks(text: str, wanted: Sequence[Wanted], commands: Mapping[str, str]) -> str:
    """The settings with exactly these hooks of ours; the same text when they are there already.

    ``commands`` holds each event's command line. Raises BadInput when the text is no JSON or ``hooks`` has another
    shape than Claude Code's.
    """
    text = text if text.strip() else "{}\n"
    groups = {want.event: want.group(commands[want.event]) for want in wanted}
    text = _without(text, groups)
    for event, group in groups.items():
        root = _root(text)
        hooks = root.member("hooks")
        if hooks is None:
            text = append(text, root, {event: [group]}, "hooks")
            continue
        listed = _hooks(root, hooks).member(event)
        if listed is None:
            text = append(text, hooks.node, [group], event)
        elif not any(child.node.value == group for child in listed.node.children):
            text = append(text, listed.node, group)
    return text


def without_hooks(text: str) -> str:
    """The settings without any hook of ours, and without the lists and objects that this leaves empty."""
    return _without(text, {}) if text.strip() else text


def our_commands(text: str) -> dict[str, list[str]]:
    """Event → the commands of ours that it runs. Raises BadInput as `with_hooks` does."""
    found: dict[str, list[str]] = {}
    for event, _, handler, _ in _handlers(_root(text)) if text.strip() else ():
        value = handler.node.value
        if isinstance(value, Mapping) and is_ours(value.get("command")):
            found.setdefault(event, []).append(str(value["command"]))
    return found


def _without(text: str, keep: Mapping[str, Mapping[str, object]]) -> str:
    """Without our handlers, but for one group per event that equals the one to keep."""
    while (cut := _next_cut(_root(text), keep)) is not None:
        holder, child = cut
        text = remove(text, holder, child)
    return text


def _next_cut(root: Node, keep: Mapping[str, Mapping[str, object]]) -> tuple[Node, Child] | None:
    """The first thing to remove: a handler of ours, or what is left empty around it."""
    kept: set[str] = set()
    for event, groups, handler, group in _handlers(root):
        value = handler.node.value
        if not (isinstance(value, Mapping) and is_ours(value.get("command"))):
            continue
        if event not in kept and event in keep and group.node.value == keep[event]:
            kept.add(event)
            continue
        hooks = root.member("hooks")
        listed = group.node.member("hooks")
        if hooks is None or listed is None:
            continue
        if len(listed.node.children) > 1:
            return listed.node, handler
        if len(groups.node.children) > 1:
            return groups.node, group
        return (hooks.node, groups) if len(hooks.node.children) > 1 or event in keep else (root, hooks)
    return None


def _handlers(root: Node) -> Iterator[tuple[str, Child, Child, Child]]:
    """Every handler as (event, the event's list, handler, group)."""
    hooks = root.member("hooks")
    for groups in _hooks(root, hooks).children if hooks else ():
        if not isinstance(groups.node.value, list):
            raise BadInput(f'"hooks" → "{groups.key}" is not a list; mend it first')
        for group in groups.node.children:
            listed = group.node.member("hooks")
            for handler in listed.node.children if listed else ():
                yield str(groups.key), groups, handler, group


def _root(text: str) -> Node:
    root = parse(text)
    if not isinstance(root.value, dict):
        raise BadInput("the settings are not a JSON object; mend them first")
    return root


def _hooks(root: Node, hooks: Child) -> Node:
    if not isinstance(hooks.node.value, dict):
        raise BadInput('"hooks" is not an object; mend it first')
    return hooks.node
