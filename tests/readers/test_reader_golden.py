"""Golden pairs: each transcript under ``tests/fixtures/<reader>`` against the drafts written down for it.

``FLYWHEEL_GOLDEN=write`` writes the pairs anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.readers.specimens import Specimen, lay_out, parse_whole, place_of, specimens

from flywheel.readers import READERS, Parsed, Retracted


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
        | ({"keep": ["".join(key) for key in item.keep]} if item.keep else {})
        if isinstance(item, Retracted)
        else {"restored": ["".join(key) for key in item.keys]}
        for item in parsed.retracted
    ]
    return {"sessions": sessions, "retracted": retracted, "unknown": dict(parsed.unknown), "drafts": drafts}


@pytest.mark.parametrize("specimen", specimens(), ids=str)
def test_a_transcript_becomes_the_drafts_written_down_for_it(specimen: Specimen, tmp_path: Path) -> None:
    """What a reader makes of a transcript stays as a person has once approved it; no two drafts have one place."""
    reader, folder = READERS[specimen.reader], lay_out(specimen.reader, tmp_path)
    path = folder / specimen.path
    parsed = parse_whole(reader, place_of(reader, folder, path), path)
    text = json.dumps(written_down(parsed), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("FLYWHEEL_GOLDEN") == "write":
        specimen.golden.parent.mkdir(exist_ok=True)
        specimen.golden.write_text(text)
    assert text == specimen.golden.read_text()
    places = [(draft.session, draft.ordinal) for draft in parsed.drafts]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("name", READERS)
def test_every_reader_has_specimens(name: str) -> None:
    """A reader without a transcript to show is not tested; nor is a golden file that belongs to none."""
    found = specimens([name])
    assert found
    assert {path.name for path in found[0].golden.parent.iterdir()} == {one.golden.name for one in found}
