"""History from all agents is one history: what is decided in one client, another one is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.clients.conftest import DECISION, FENCE, QUESTION, Desk
from tests.clients.programs import PROGRAMS

PAIRS = [("codex", "claude"), ("claude", "codex"), ("gemini", "claude"), ("opencode", "claude")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_decision_crosses_from_one_agent_to_another(
    desk_for: Callable[[Sequence[str]], Desk], first: str, second: str
) -> None:
    """A decision taken in one client is in the next session of another one in the same repository."""
    desk = desk_for([first, second])
    for name in (first, second):
        desk.install(PROGRAMS[name])
    desk.say(PROGRAMS[first], DECISION)
    desk.decided()
    desk.house.client.context(cwd=str(desk.repository))
    asked = len(desk.model.asked)
    desk.say(PROGRAMS[second], QUESTION)
    told = [body for body in desk.model.heard(asked) if FENCE in body]
    assert any("Valkey for the price cache" in body for body in told)
