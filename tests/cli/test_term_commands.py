"""``flywheel term``, ``flywheel questions`` and ``flywheel file-back``: what they ask of the daemon and print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from flywheel.api import Asked, AskedList, Done, FiledPage, TermChange, TermHistory, TermList, TermShown
from flywheel.cli import cli, decide, keep, questions, term
from flywheel.model import Micros

TILL = TermShown(
    id="t" * 32, short="tttttt", name="till", status="candidate", version=1, meaning="Where one \x1b[31mpays.",
    synonyms=["POS"], gotchas=["Not a shop."], waits=["new: confirm or reject it"], quote="the till (POS)",
    source="abcdef12", updated_at=Micros(1_780_000_000_000_000),
)  # fmt: skip
CHANGE = TermChange(
    version=1, at=Micros(1_780_000_000_000_000), status="candidate", actor="rules", reason="a text says so",
    changes=["synonyms: +POS"],
)  # fmt: skip
WRONG = Asked(
    id="q" * 32, short="qqqqqq", text="How long?", kept=True, scope="plan:pro", expected="90 days", answer="30 days",
    holds=False, page="eeeeee", was="90 days", cause="[fw:cccccc] said on 2026-04-02", changed=True,
    changed_at=Micros(1_780_000_000_000_000),
)  # fmt: skip


class Desk:
    """Stands in for the daemon and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, verb: str) -> Any:
        def answer(**given: Any) -> Any:
            self.asked.append((verb, given))
            return ANSWERS[verb]

        return answer


DONE = Done(ok=True, message="“till” is worded.")
ANSWERS: dict[str, Any] = {
    "terms": TermList(project="shop", terms=[TILL], waiting=1),
    "term": TermHistory(term=TILL, versions=[CHANGE]),
    "term_set": DONE,
    "project_private": DONE,
    "term_confirm": DONE,
    "term_reject": DONE,
    "term_remove": DONE,
    "questions": AskedList(project="shop", questions=[WRONG], wrong=1),
    "question_add": WRONG,
    "question_remove": DONE,
    "questions_run": AskedList(project="shop", questions=[WRONG], changed=1, wrong=1),
    "file_back": FiledPage(
        id="e1", short="eeeeee", title="How long", status="candidate", new=True, claims=2, sources=[], message="Filed."
    ),
}


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Every command of this test asks it."""
    made = Desk()
    for module in (term, questions):
        monkeypatch.setattr(module, "connect", lambda: made)
    return made


@pytest.fixture
def mara(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person sits at this terminal."""
    monkeypatch.setattr(term, "person", lambda: "mara")
    monkeypatch.setattr(decide, "person", lambda: "mara")
    monkeypatch.setattr(decide, "shut", lambda: "")


def run(*words: str) -> Any:
    """Call the command."""
    return CliRunner().invoke(cli, list(words))


@pytest.mark.parametrize(
    ("words", "verb", "given"),
    [
        (("set", "till", "--synonym", "POS", "--synonym", "counter", "--gotcha", ""), "term_set",
         {"name": "till", "meaning": None, "synonyms": ["POS", "counter"], "gotchas": [], "reason": ""}),
        (("set", "till", "--meaning", "x", "--target", "a.py", "--relation", "in: b", "--related", "c"), "term_set",
         {"name": "till", "meaning": "x", "targets": ["a.py"], "relations": ["in: b"], "related": ["c"], "reason": ""}),
        (("confirm", "till", "POS", "--reason", "read"), "term_confirm", {"names": ("till", "POS"), "reason": "read"}),
        (("reject", "till"), "term_reject", {"names": ("till",), "reason": ""}),
        (("rm", "till"), "term_remove", {"names": ("till",), "reason": ""}),
    ],
)  # fmt: skip
def test_acts_on_terms_name_the_person(
    desk: Desk, mara: None, words: tuple[str, ...], verb: str, given: dict[str, Any]
) -> None:
    """Only what was given is sent; an empty list empties; the door is the terminal."""
    done = run("term", *words)
    assert (done.exit_code, done.output) == (0, "“till” is worded.\n")
    person = {"who": "mara", "door": "terminal", "cwd": str(Path.cwd()), "project": ""}
    assert desk.asked == [(verb, given | person)]


def test_no_person_no_act(desk: Desk) -> None:
    """Without a terminal nothing is sent."""
    done = run("term", "confirm", "till")
    assert done.exit_code != 0 and desk.asked == []


def test_terms_are_printed(desk: Desk) -> None:
    """The list with what waits, one term, its history; no stored text steers the terminal; JSON for programs."""
    listed = run("term", "ls", "--waiting").output
    assert "till" in listed and "waits: new" in listed and "1 term to decide" in listed and "\x1b" not in listed
    assert desk.asked[0][1]["waiting"] is True
    shown = run("term", "show", "POS").output
    assert "gotcha    Not a shop." in shown and "“the till (POS)” [fw:abcdef]" in shown
    told = run("term", "history", "till").output
    assert "1  2026-05-28 candidate by rules: a text says so" in told and "synonyms: +POS" in told
    for words in (("ls",), ("show", "till"), ("history", "till")):
        assert orjson.loads(run("term", *words, "--json").output)


def test_questions_are_printed_and_a_wrong_answer_fails(desk: Desk) -> None:
    """Each with its answer, what it was, and why; ``run`` exits 1 when an answer is not as expected."""
    done = run("questions", "add", "How", "long?", "--scope", "pro", "--expect", "90 days")
    assert done.exit_code == 0 and "NOT as expected: 90 days" in done.output
    assert desk.asked[0][1] | {"text": "How long?", "scope": "pro", "expect": "90 days"} == desk.asked[0][1]
    ran = run("questions", "run")
    assert ran.exit_code == 1 and "because: [fw:cccccc] said on 2026-04-02" in ran.output
    assert "1 question asked, 1 changed, 1 not as expected." in ran.output
    assert run("questions", "run", "--json").exit_code == 1
    assert run("questions", "ls", "--unanswered", "--json").exit_code == 0
    assert run("questions", "rm", "qqqqqq").output == "“till” is worded.\n"


def test_an_answer_is_filed_back(desk: Desk, mara: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person through the terminal, everybody else by the name of what they are."""
    assert run("file-back", "How", "long?", "--title", "Keeping").output == "Filed.\n"
    monkeypatch.setattr(decide, "shut", lambda: "an agent runs this")
    assert run("file-back", "How long?", "--json").exit_code == 0
    assert [(given["who"], given["door"], given["question"]) for _, given in desk.asked] == [
        ("mara", "terminal", "How long?"),
        ("command line", "command line", "How long?"),
    ]


def test_only_a_person_lets_a_private_project_be_told_of_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may keep it private; without a terminal nothing opens it."""
    monkeypatch.setattr(keep, "connect", lambda: desk)
    assert run("project", "private", "shop").exit_code == 0
    refused = run("project", "private", "shop", "--off")
    assert refused.exit_code != 0 and [given["off"] for _, given in desk.asked] == [False]
    monkeypatch.setattr(decide, "person", lambda: "mara")
    assert run("project", "private", "shop", "--off").exit_code == 0
    assert desk.asked[-1] == ("project_private", {"project": "shop", "off": True})
