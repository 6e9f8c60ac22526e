"""One JSON document as a stream: its conversations and messages, one at a time, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import ijson
from ijson.common import ObjectBuilder

from flywheel.errors import BadInput, TooLarge
from flywheel.harvest.uploads.talk import Talk

VALUE_CAP: Final = 16 * 1024 * 1024
"""Bytes of one message, or of anything else that is held at once."""

_BLOCK: Final = 64 * 1024
_DEPTH: Final = 100

Event = tuple[str, Any]


class _Source:
    """The chunks as a file; counts what was read since the last value that is whole."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""
        self.since = 0

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes; b"" at the end."""
        while not self._rest:
            try:
                self._rest = next(self._chunks)
            except StopIteration:
                return b""
        data, self._rest = self._rest[:size], self._rest[size:]
        self.since += len(data)
        if self.since > VALUE_CAP + _BLOCK:
            raise TooLarge(f"a single value is larger than {VALUE_CAP >> 20} MB", limit=VALUE_CAP)
        return data


def read_document(chunks: Iterator[bytes], talk: Talk) -> None:
    """Take in a document: an object with ``messages``, a list of messages, or a list of such objects.

    Raises BadInput that names what is wrong.
    """
    reader = _Document(chunks, talk)
    try:
        reader.whole()
    except ijson.JSONError as error:
        raise BadInput(f"it is no JSON: {str(error).splitlines()[0] if str(error) else 'it breaks off'}") from error


class _Document:
    def __init__(self, chunks: Iterator[bytes], talk: Talk) -> None:
        self._source = _Source(chunks)
        self._events: Iterator[Event] = iter(ijson.basic_parse(self._source, use_float=True, buf_size=_BLOCK))
        self._talk = talk

    def whole(self) -> None:
        """Everything, to the end of the document."""
        event, _ = self._next()
        if event == "start_map":
            fields = self._element("", alone=True)
            if "messages" not in fields:
                raise BadInput("the field 'messages' is missing", field="messages")
        elif event == "start_array":
            self._list()
        else:
            raise BadInput("it must be an object with messages, or a list", field="")
        for _ in self._events:  # what follows would be an error
            pass

    def _next(self) -> Event:
        try:
            return next(self._events)
        except StopIteration:
            raise BadInput("it is empty") from None

    def _list(self) -> None:
        """A list of messages, or of conversations."""
        number, loose = 0, 0  # loose: messages of a conversation that has no object of its own
        while (event := self._next()[0]) != "end_array":
            path = f"[{number}]"
            if event != "start_map":
                raise BadInput(f"{path} must be an object", field=path)
            fields = self._element(path, alone=not loose)
            if "messages" not in fields:
                if not loose:
                    self._talk.begin()
                self._talk.message(fields, path)
                loose += 1
            elif loose:
                raise BadInput(f"{path}.messages: a message must not hold messages", field=f"{path}.messages")
            number += 1
        if loose:
            self._talk.end({}, "")
        elif not number:
            raise BadInput("it is an empty list", field="")

    def _element(self, path: str, *, alone: bool) -> dict[str, Any]:
        """An object, of which the messages are taken in as they come; ``alone``: no other conversation is open."""
        self._source.since = 0
        dot = f"{path}." if path else ""
        fields: dict[str, Any] = {}
        while (event := self._next())[0] != "end_map":
            key = str(event[1])
            first = self._next()
            if key == "messages" and alone:
                if first[0] != "start_array":
                    raise BadInput(f"{dot}messages must be a list", field=f"{dot}messages")
                if "messages" in fields:
                    raise BadInput(f"{dot}messages is there twice", field=f"{dot}messages")
                self._messages(f"{dot}messages")
                fields["messages"] = True
            else:
                fields[key] = self._build(first, f"{dot}{key}")
        if fields.get("messages") is True and alone:
            self._talk.end({key: value for key, value in fields.items() if key != "messages"}, path)
        return fields

    def _messages(self, path: str) -> None:
        self._talk.begin()
        number = 0
        while (first := self._next())[0] != "end_array":
            self._talk.message(self._build(first, f"{path}[{number}]"), f"{path}[{number}]")
            self._source.since = 0
            number += 1

    def _build(self, first: Event, path: str) -> Any:
        """The value that begins with this event."""
        builder = ObjectBuilder()
        depth, event = 0, first
        while True:
            builder.event(*event)
            depth += event[0].startswith("start") - event[0].startswith("end")
            if depth > _DEPTH:
                raise BadInput(f"{path} is nested too deeply", field=path)
            if not depth:
                return builder.value
            event = self._next()
