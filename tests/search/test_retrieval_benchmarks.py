"""The retrieval benchmarks over small sets of our own: they go through the import, and say what they promise to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest
from benchmarks import devmembench, locomo


def write(path: Path, *rows: Mapping[str, object]) -> None:
    """JSON Lines."""
    path.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))


def turn(number: int, speaker: str, text: str, session: int = 1) -> dict[str, object]:
    """One turn of a conversation."""
    return {
        "conv": "c1",
        "session": session,
        "date": f"9:0{session} am on {session} May, 2026",
        "id": f"D{session}:{number}",
        "speaker": speaker,
        "text": text,
        "caption": "a red kite" if number == 2 else None,
    }


def question(id: str, text: str, *evidence: str, category: int = 1) -> dict[str, object]:
    """One question about a conversation."""
    return {
        "qid": id,
        "conv": "c1",
        "category": category,
        "question": text,
        "evidence": evidence,
        "evidence_sessions": sorted({int(turn[1 : turn.index(":")]) for turn in evidence}),
    }


def test_turns_are_found_and_counted(tmp_path: Path) -> None:
    """Every evidence turn of an easy set is found; questions without evidence are left out."""
    write(
        tmp_path / "turns.jsonl",
        turn(1, "Ada", "I planted tomatoes behind the shed."),
        turn(2, "Ben", "Nice. I flew my kite."),
        turn(1, "Ada", "The greenhouse leaks.", session=2),
        turn(2, "Ben", "Use putty.", session=2),
    )
    write(
        tmp_path / "queries.jsonl",
        question("1", "What did Ada plant?", "D1:1"),
        question("2", "What leaks, and what helps?", "D2:1", "D2:2"),
        question("3", "Who flew a submarine?", category=5),
    )
    answer = locomo.run(tmp_path, None)
    assert answer["n"] == 2
    assert answer["results"] == dict.fromkeys(answer["floor"], 100.0)
    assert set(answer["results"]) == {
        "turn_recall_at_10",
        "turn_recall_at_10_no_adversarial",
        "turn_all_at_10",
        "session_any_at_5",
    }
    assert locomo.run(tmp_path, 1)["n"] == 1


def test_sessions_are_found_and_counted(tmp_path: Path) -> None:
    """The gold sessions come first, over all projects at once."""
    sessions = [
        {
            "session": f"S{number}",
            "date": f"2026-05-0{number}",
            "project": project,
            "messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": told}],
        }
        for number, (project, asked, told) in enumerate(
            [
                ("tide-tables", "Which database?", "PostgreSQL, for the extension."),
                ("tide-tables", "Fix the harbour test.", "The clock was mocked wrongly; fixed."),
                ("kite-shop", "Pick colours.", "Red and white."),
            ],
            1,
        )
    ]
    write(tmp_path / "sessions.jsonl", *sessions)
    write(
        tmp_path / "questions.jsonl",
        {"qid": "1", "type": "x", "question": "What database does tide-tables use?", "gold_sessions": ["S1"]},
        {"qid": "2", "type": "x", "question": "Which colours has the kite-shop?", "gold_sessions": ["S3"]},
        {"qid": "3", "type": "abstention", "question": "Who pays?", "gold_sessions": []},
    )
    answer = devmembench.run(tmp_path, None)
    assert answer["n"] == 2
    assert answer["results"] == {f"session_frac_at_{depth}": 100.0 for depth in (1, 3, 5)}
    assert set(answer["floor"]) == set(answer["results"])


@pytest.mark.parametrize("benchmark", [locomo, devmembench])
def test_without_data_they_say_what_they_need(benchmark: object) -> None:
    """No folder is built in."""
    with pytest.raises(ValueError, match="--data"):
        benchmark.run(None, None)  # type: ignore[attr-defined]
