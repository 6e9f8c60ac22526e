"""A session in progress: every agent's next line is found without anybody asking for an import."""

from __future__ import annotations

import subprocess

import pytest
from benchmarks.talk import TALK
from tests.e2e.conftest import House, until


@pytest.mark.parametrize("agent", TALK)
def test_a_line_is_found_while_the_session_goes_on(house: House, agent: str) -> None:
    """The folder comes after the daemon; each line is found once, in the agent's name and in the checkout's project."""
    home = house.home / "user"
    checkout = home / "app"
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    if agent == "aider":  # which is found where somebody has worked
        TALK["claude"](home, checkout, 0, "Hello from the checkout.")
        until("a known checkout", lambda: house.client.status().rows["sessions"])
    for number in range(3):
        word = f"kumquat{number}"
        TALK[agent](home, checkout, number, f"Please remember the {word} rule")

        def found(word: str = word) -> bool:
            hits = house.client.search(query=word, everywhere=True, kinds=["message"]).hits
            return any(word in hit.text and hit.agent == agent for hit in hits)

        until(f"message {number}", found)
    hits = house.client.search(query="kumquat1", cwd=str(checkout), kinds=["message"], limit=50).hits
    assert sum("kumquat1" in hit.text for hit in hits) == 1
