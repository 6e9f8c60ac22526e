"""Conversations of plain JSON on their way in: checked message by message, redacted, written down a message a line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from flywheel.errors import BadInput
from flywheel.harvest.uploads.parts import Parts
from flywheel.model import Clean
from flywheel.readers.fields import cap_text, clip, mapping_of, text_of
from flywheel.readers.generic.check import Problem, wrong_head, wrong_message
from flywheel.readers.generic.parse import canonical, own_id
from flywheel.text.redact import Redactor

_STRING: Final = 128 * 1024  # characters kept of one text
_DEPTH: Final = 100
_HEAD: Final = 256 * 1024  # bytes of what a conversation holds beside its messages


class Talk:
    """Takes conversations and gives lines: a head, then its messages.

    ``cwd``, ``project`` and ``name`` are the client's and count more than what the conversation says. ``known`` tells
    whether the conversation with that id is stored already. Raises BadInput that names the field.
    """

    def __init__(
        self, parts: Parts, redact: Redactor, *, cwd: str, project: str, name: str, known: Callable[[str], bool]
    ) -> None:
        self._parts = parts
        self._redact = redact
        self._about = {key: value for key, value in (("cwd", cwd), ("project", project)) if value}
        self._name = name
        self._known = known
        self._said = hashlib.sha256()
        self._count = 0
        self.messages = 0

    def begin(self) -> None:
        """A conversation begins."""
        self._parts.begin()
        self._said, self._count = hashlib.sha256(), 0

    def message(self, message: object, path: str) -> None:
        """The next message of it."""
        refuse(wrong_message(message, path))
        self._said.update(canonical(message) + b"\n")
        self._count += 1
        self.messages += 1
        self._parts.add(self._line(message, path))

    def end(self, fields: Mapping[str, Any], path: str) -> None:
        """The conversation is complete; ``fields`` are what it holds beside its messages, ``path`` is its own."""
        dot = f"{path}." if path else ""
        refuse(wrong_head(fields, dot))
        if not self._count:
            raise BadInput(f"{dot}messages is empty", field=f"{dot}messages")
        named = own_id(fields)
        about = {**mapping_of(fields.get("metadata")), **self._about}
        title = text_of(fields.get("title")) or text_of(about.get("title")) or text_of(about.get("name")) or self._name
        head = {
            **fields,
            "id": named or self._said.hexdigest(),
            "title": clip(title, 500),
            "metadata": about,
            "head": {"named": bool(named), "length": self._count, "replaces": bool(named) and self._known(named)},
            "messages": [],
        }
        line = self._line(head, path)
        if len(line) > _HEAD:
            kept = ("id", "title", "metadata", "head", "messages")
            small = {key: about[key] for key in ("cwd", "project", "agent") if key in about}
            line = self._line({**{key: head[key] for key in kept}, "metadata": small}, path)
        self._parts.head(line)

    def _line(self, value: object, path: str) -> Clean:
        try:
            return line_of(self._redact, value)
        except RecursionError:
            raise BadInput(f"{path or 'it'} is nested too deeply", field=path) from None


def refuse(wrong: Problem | None) -> None:
    """Raise BadInput for what is wrong with a field, if anything is."""
    if wrong:
        raise BadInput(f"{wrong[0]} {wrong[1]}", field=wrong[0])


def line_of(redact: Redactor, value: object) -> Clean:
    """A JSON value as one redacted line. Raises RecursionError when it is nested too deeply."""
    return redact.line(_shortened(value, _DEPTH))


def _shortened(value: object, depth: int) -> object:
    """The value with very long texts cut to head and tail, so that no message costs much."""
    if isinstance(value, str):
        return cap_text(value, _STRING)[0] if len(value) > _STRING else value
    if isinstance(value, dict):
        if not depth:
            raise RecursionError
        return {key: _shortened(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        if not depth:
            raise RecursionError
        return [_shortened(inner, depth - 1) for inner in value]
    return value
