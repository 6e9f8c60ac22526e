"""What asking about a session may take: a share of the session's own tokens, whatever it holds and however it grows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.harvest.models.house import ModelHouse, answers
from tests.harvest.rules_talk import PROJECT, Turn, talk

from flywheel.harvest.models.packing import PAIR, SHOWN, least, limits
from flywheel.harvest.models.unread import unread
from flywheel.store.mapper import insert_many
from flywheel.text.tokens import count

SHARE = 0.25

KNOWN = [
    f"We decided to keep the export of region {at} on replica {at % 7} because its primary was too slow last winter."
    for at in range(30)
]
PICKED = answers(None, [])


def prompts(many: int) -> list[Turn]:
    """Short things that a person says, about what is known already."""
    return [
        ("user", f"And region {at}? Its export went to replica {at % 7}, the primary was slow.") for at in range(many)
    ]


def coding(many: int) -> list[Turn]:
    """Prompts between long output of tools, replies and failures."""
    turns: list[Turn] = []
    for at in range(many):
        turns += [
            ("user", f"Region {at} fails, look at `export_{at}.py` again. " * 3),
            ("call", f"cat export_{at}.py"), ("result", f"def export_{at}(x):\n        return x + {at}\n" * 40),
            ("error", f"E   ValueError: lease {at} is gone\n" * 30),
            ("assistant", f"We decided to keep region {at} on replica {at % 7}. I changed it and ran the tests. " * 8),
        ]  # fmt: skip
    return turns


SHAPES: Mapping[str, Sequence[Turn]] = {
    "a few short prompts": prompts(20),
    "just enough": prompts(300),
    "many short prompts": prompts(2_500),
    "one huge prompt": [("user", "The export of the region must stay off the primary database. " * 4_000)],
    "one huge prompt among few": [*prompts(5), ("user", "word and word " * 9_000), *prompts(5)],
    "coding": coding(12),
    "much coding": coding(150),
    "blanks": [("user", f"region {at}" + " " * 900) for at in range(200)],
    "no blanks": [("user", f"the replica {'abcdefgh' * 200} of {at}") for at in range(60)],
    "other scripts": [("user", f"导出区域{at}必须远离主数据库，因为它太慢了。" * 9) for at in range(60)],
    "replies alone": [("assistant", f"We decided to keep region {at} on replica {at % 7}. " * 20) for at in range(90)],
}


def taken(bodies: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of whole requests: what the model is told, the talk, the tool; one that was sent again counts once."""
    once = [body for at, body in enumerate(bodies) if body not in bodies[:at]]
    parts = [(body["system"][0]["text"], body["messages"][0]["content"], json.dumps(body["tools"])) for body in once]
    return sum(count(str(text)) for part in parts for text in part)


def own(turns: Sequence[Turn]) -> int:
    """Tokens of what was said."""
    return sum(count(message.text) for message in talk(*turns))


@pytest.mark.parametrize("shape", SHAPES)
def test_no_session_costs_more_than_its_share(models: ModelHouse, shape: str) -> None:
    """Also where the router picks everything and pages touch all of it; what is too short to pay is not asked about."""
    models.open(share=SHARE)
    models.house.hear("known", *[("user", text) for text in KNOWN])
    turns = SHAPES[shape]
    models.house.say("s", *turns, at=1)
    asked = models.read("s", PICKED)
    assert taken(asked) <= SHARE * own(turns)
    assert bool(asked) is (own(turns) >= least(SHARE))
    if asked:
        assert taken(asked) > PAIR and all("#" in str(body["messages"][0]["content"]) for body in asked)


def test_what_is_too_short_waits_until_there_is_more(models: ModelHouse) -> None:
    """It is neither asked about nor taken for read; once enough was said, all of it is; a short rest waits again."""
    models.open(share=SHARE)
    turns = prompts(600)
    steps = [60, 250, 300, 301, 600]
    sent: list[int] = []
    for before, stop in zip([0, *steps], steps, strict=False):
        models.house.say("s", *turns[:stop], at=1) if not before else _more(models, turns, before, stop)
        sent.append(taken(models.read("s", PICKED)))
        assert sum(sent) <= SHARE * own(turns[:stop])
        with models.db.read() as tx:
            assert unread(tx, [PROJECT], SHARE) == []
    assert sent[0] == 0 and sent[3] == 0 and sum(one > 0 for one in sent) == 2
    first, second = models.reads()
    assert first.part == "" and second.part == first.stop and second.stop.startswith(f"{steps[-1]:012d}:")


def _more(models: ModelHouse, turns: Sequence[Turn], before: int, stop: int) -> None:
    """Say what comes next of the session."""
    with models.db.write() as tx:
        insert_many(tx, talk(*turns[:stop], session="s", at=1)[before:])


def test_without_a_bound_everything_is_asked_about(models: ModelHouse) -> None:
    """`extract.model_share = 0`."""
    models.house.say("s", *prompts(3))
    assert len(models.read("s", PICKED)) == 2 and least(0) == 0 and limits(10, 0) is None


@pytest.mark.parametrize("share", [0.05, 0.25, 1.0])
def test_from_the_least_length_on_both_have_something_to_see(share: float) -> None:
    """Each has its fixed words and some records, and not a token above the share."""
    for tokens in range(least(share), least(share) + 3_000, 37):
        found = limits(tokens, share)
        assert found is not None and min(found) >= SHOWN * 0.9 and sum(found) + PAIR <= share * tokens
