"""Short exchanges with a coding agent: what it did, what it said, and what the person said next; some correct it.

One line of the text file beside this each: ``mark | what the agent ran or edited | what it said | what the person
said``. The mark is ``+`` where the person says that what the agent did is wrong and what is right instead, or what must
not be; ``-`` where not: praise, answers to the agent's question, new work, reports of trouble, a change of the person's
own mind. Written for this project, before the rules but by whoever wrote them; the half whose digest begins with an odd
digit was measured first once they were done (`is_held_out`), and again after each later change.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.model import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One exchange and whether its last words correct the agent."""

    ran: str
    said: str
    prompt: str
    corrects: bool


_FILE: Final = Path(__file__).with_suffix(".txt")


def exchanges() -> list[Exchange]:
    """All of them, in the order of the table."""
    found = []
    for line in _FILE.read_text("utf-8").splitlines():
        mark, ran, said, prompt = (part.strip() for part in line.split("|", 3))
        found.append(Exchange(ran=ran, said=said, prompt=prompt, corrects=mark == "+"))
    return found


def is_held_out(one: Exchange) -> bool:
    """Whether an exchange is in the half that no rule is tuned on."""
    return int(digest(one.prompt)[0], 16) % 2 == 1
