"""Rows of the database of Cursor's editor, as its queries give them: pieces of messages and of conversations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from benchmarks.corpora.cursor import query, scribe
from benchmarks.transcripts import Writer
from flywheel.readers.cursor.ide_sql import ABOUT, PIECES

_STEPS: Final = 6
_TURNS: Final = 12  # of a conversation


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One conversation after the other."""
    made = scribe(seed)
    for number in itertools.count():
        composer = f"{number:08x}-0000-4000-8000-000000000000"
        about = {"name": made.prose(40), "createdAt": 1784992800000, "workspaceIdentifier.uri.fsPath": "/home/dev/app"}
        about |= {"fullConversationHeadersOnly[0].type": 1}
        yield {"table": "composer", "mark": number, "composer": composer, "value": _told(about, ABOUT)}
        names = []
        for place, (message, result) in enumerate(itertools.chain.from_iterable(_turn(made) for _ in range(_TURNS))):
            names.append(f"{place:08x}-1111-4000-8000-{number:012x}")
            yield {
                "mark": number, "composer": composer, "bubble": names[-1], "position": place, "live": 1,
                "began": 1784992800000, "open": 0, "value": _told(message, PIECES), "result": result, "images": 0,
                "table": "bubble",
            }  # fmt: skip
        yield {"table": "list", "mark": number, "composer": composer, "value": orjson.dumps(names).decode()}


def _turn(made: Writer) -> Iterator[tuple[dict[str, Any], str | None]]:
    created = {"createdAt": "2026-07-25T15:20:00.000Z"}
    yield {"type": 1, "text": query(made).partition("<user_query>\n")[2], **created}, None
    for step in range(_STEPS):
        yield {"type": 2, "text": made.prose(500), "thinking": {"text": "", "signature": "A" * 300}, **created}, None
        given = {"command": f"pytest -q {made.rng.choice(made.files)}"}
        told = orjson.dumps(given).decode()
        tool = {"name": "run_terminal_command_v2", "toolCallId": f"call_{made.rng.getrandbits(64):x}"}
        tool |= {"params": told, "rawArgs": told, "status": "completed"}
        output = {"output": "".join(made.output() for _ in range(3)), "exitCodeV2": step % 2}
        message = {"type": 2, "text": "", **created} | {f"toolFormerData.{key}": value for key, value in tool.items()}
        yield message, orjson.dumps(output).decode()
    yield {"type": 2, "text": made.prose(900), **created}, None


def _told(pieces: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return orjson.dumps([pieces.get(name) for name in names]).decode()
