"""Golden pairs: each transcript under ``tests/fixtures/<agent>/projects`` against the drafts written down for it.

``FLYWHEEL_GOLDEN=write`` writes the pairs anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flywheel.model import Micros
from flywheel.readers import READERS, Parsed, Reader, Record, Retracted

FIXTURES = Path(__file__).parent.parent / "fixtures"


def transcripts() -> list[tuple[str, Path]]:
    """Agent and path of every transcript among the fixtures."""
    return [
        (agent, path)
        for agent, reader in READERS.items()
        for path in sorted((FIXTURES / agent / "projects").rglob("*"))
        if path.is_file() and reader.place(path.parts) is not None
    ]


def records_of(path: Path) -> list[Record]:
    """The records of an undamaged transcript."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def read_whole(reader: Reader, path: Path) -> Parsed:
    """A transcript parsed in one go, with its sidecar."""
    place = reader.place(path.parts)
    assert place is not None
    sidecar = path.with_name(place.sidecar) if place.sidecar else None
    about = json.loads(sidecar.read_text()) if sidecar and sidecar.exists() else None
    return reader.parse(reader.start(place, at=Micros(1), sidecar=about), records_of(path))


def written_down(parsed: Parsed) -> dict[str, object]:
    """The golden form: defaults left out, one draft a row."""
    drafts = [
        {
            "key": "".join(draft.key),
            "in": draft.session,
            "who": f"{draft.role} {draft.kind}",
            "text": draft.text,
            **({"tool": draft.tool, "call": draft.call_id} if draft.tool or draft.call_id else {}),
            **({"error": True} if draft.is_error else {}),
            **({"meta": dict(draft.meta)} if draft.meta else {}),
            "at": draft.created_at,
        }
        for draft in parsed.drafts
    ]
    sessions = {
        native: {name: value for name in facts.__slots__ if (value := getattr(facts, name)) and name != "native_id"}
        for native, facts in parsed.sessions.items()
    }
    retracted = [
        {"reason": item.reason, "keys": ["".join(key) for key in item.keys], "range": [item.since, item.until]}
        if isinstance(item, Retracted)
        else {"restored": ["".join(key) for key in item.keys]}
        for item in parsed.retracted
    ]
    return {"sessions": sessions, "retracted": retracted, "unknown": dict(parsed.unknown), "drafts": drafts}


@pytest.mark.parametrize(("agent", "path"), transcripts(), ids=lambda value: getattr(value, "stem", value))
def test_a_transcript_becomes_the_drafts_written_down_for_it(agent: str, path: Path) -> None:
    """What a reader makes of a transcript stays as a person has once approved it."""
    parsed = read_whole(READERS[agent], path)
    golden = FIXTURES / agent / "golden" / f"{path.stem}.json"
    text = json.dumps(written_down(parsed), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("FLYWHEEL_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()
    assert [draft.ordinal for draft in parsed.drafts] == list(range(len(parsed.drafts)))
