"""Asking a model to sum up what the rules say, in sentences that cite it; and what code lets through of them.

The model is given records, numbered, and nothing else. A sentence is kept when it cites some of them and code finds
that those bear it out; the others are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from flywheel.harvest.models.pieces import clipped, shown
from flywheel.harvest.models.prompts import CLOSES, OPENS
from flywheel.harvest.rules.topic import stems
from flywheel.llm import Purpose, Request, Said, Tool
from flywheel.llm.sentences import Record, cited_sentences
from flywheel.model import Clean, ProjectId, Role
from flywheel.text.bearing import bears_out
from flywheel.text.compose import fixed, join, reworded, squeeze

LEAST: Final = 3
"""Records below which there is nothing to sum up."""

EACH: Final = 80
"""Tokens of one of them."""

SENTENCES: Final = 5

TOOL: Final = Tool(
    name="sum_up",
    description=fixed("Sum up what is recorded."),
    schema=cited_sentences(most=SENTENCES, longest=400, cite="integer"),
)

Redact = Callable[[str], Clean]


def request_of(rules: Clean, records: Sequence[Record], project: ProjectId) -> Request:
    """The question to the model; ``rules`` are what it is told."""
    lines = [
        join([reworded(f"#{number}", one.text), clipped(shown(one.text), EACH)])
        for number, one in enumerate(records, 1)
    ]
    said = Said(role=Role.USER, text=join([OPENS, *lines, CLOSES], "\n"))
    return Request(purpose=Purpose.RETRO, project_id=project, prefix=rules, messages=[said], tool=TOOL, max_tokens=800)


def sentences_of(
    value: Mapping[str, object], records: Sequence[Record], redact: Redact
) -> list[tuple[Clean, Sequence[str]]]:
    """The sentences that what they cite bears out, with what they rest on in the end."""
    found = value.get("sentences")
    told: list[tuple[Clean, Sequence[str]]] = []
    for one in found if isinstance(found, (list, tuple)) else ():
        cites = one.get("cites") if isinstance(one, Mapping) else None
        numbers = [number for number in cites if isinstance(number, int)] if isinstance(cites, (list, tuple)) else []
        text = squeeze(shown(redact(str(one.get("text", ""))))) if numbers else fixed("")
        if not text or not all(1 <= number <= len(records) for number in numbers):
            continue
        cited = [records[number - 1] for number in numbers]
        if "[fw:" not in text and bears_out(text, [record.text for record in cited], stems):
            told.append((text, list(dict.fromkeys(id for record in cited for id in record.rests))))
    return told
