"""`flywheel models`: what is printed, what is asked, and JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from flywheel.api import Done, ModelInfo, ModelList, ModelScore, ModelScores, ModelSwitch
from flywheel.cli import models as command
from flywheel.cli.models import models


class Desk:
    """Answers as an Api does, and remembers what it was asked."""

    def __init__(self, switch: ModelSwitch | None = None) -> None:
        self.switch = switch
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def models(self, **given: Any) -> ModelList:
        self.asked.append(("models", given))
        some = [
            ModelInfo(name="static", id="static-256", state="serves", dim=256, languages="English", where="bundled",
                      texts_per_second=18_000.4, vectors=1234),
            ModelInfo(name="voyage:x\x1b[2J", state="missing", where="voyage", note="the key is wrong or missing"),
        ]  # fmt: skip
        return ModelList(models=some, chosen="here", switch=self.switch)

    def models_use(self, **given: Any) -> Done:
        self.asked.append(("use", given))
        return Done(ok=True, message="minilm is embedding")

    def models_test(self, **given: Any) -> ModelScores:
        self.asked.append(("test", given))
        score = ModelScore(name="static", id="s", links=12, links_mrr=0.3734, cited=39, cited_mrr=0.8286, seconds=0.1)
        gone = ModelScore(
            name="gone", id="", links=0, links_mrr=0, cited=0, cited_mrr=0, seconds=0, note="not installed"
        )
        return ModelScores(scores=[score, gone], pages=31, messages=104)


def run(monkeypatch: pytest.MonkeyPatch, desk: Desk, *words: str) -> Result:
    """The command with a desk instead of a daemon."""
    monkeypatch.setattr(command, "connect", lambda: desk)
    result = CliRunner().invoke(models, list(words))
    assert result.exit_code == 0, result.output
    return result


def test_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """State, width, speed, languages and vectors on one line; what is missing says what to do; nothing escapes."""
    text = run(monkeypatch, Desk()).output
    assert "static  serves · bundled · 256 numbers · 18,000 texts/s · English · 1,234 vectors" in text
    assert "the key is wrong or missing" in text and "\x1b[2J" not in text
    assert "Chosen by flywheel models use" in text


def test_how_far_a_switch_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors, percent, minutes left, and why it waits."""
    switch = ModelSwitch(
        wanted="minilm", serving="static", done=250, total=1000, seconds_left=170.0, problem="HTTP 429"
    )
    text = " ".join(run(monkeypatch, Desk(switch), "ls").output.split())
    assert "minilm takes over: 250 of 1,000 vectors (25 %, about 3 min left); static serves until then." in text
    assert "It waits: HTTP 429" in text


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--measure"], ("models", {"measure": True})),
        (["ls"], ("models", {"measure": False})),
        (["use", "minilm"], ("use", {"name": "minilm"})),
        (["test", "static", "minilm", "-n", "9"], ("test", {"names": ("static", "minilm"), "limit": 9})),
    ],
)
def test_what_is_asked(monkeypatch: pytest.MonkeyPatch, words: list[str], asked: tuple[str, dict[str, Any]]) -> None:
    """Each command is one verb; with --json it prints the whole answer."""
    desk = Desk()
    run(monkeypatch, desk, *words)
    assert desk.asked == [asked]
    assert isinstance(json.loads(run(monkeypatch, Desk(), *words, "--json").output), dict)


def test_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both measures with how many they rest on, and why one has none."""
    text = run(monkeypatch, Desk(), "test").output
    assert "among 31 pages and 104 messages" in text
    assert "linked pages 0.373 (n 12) · cited messages 0.829 (n 39) · 0.1 s" in text and "gone  not installed" in text
