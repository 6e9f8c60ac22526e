"""What the way of a session shows: failures and what helped, rereads, loops, dead ends, discoveries, corrections."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.harvest.rules_talk import PROJECT, Turn, talk

from flywheel.harvest.rules import Draft
from flywheel.model import Category, ClaimType, Message, MessageKind, Micros, Session, SessionId
from flywheel.retro.rules import Look, Point
from flywheel.text.redact import Redactor

_text = Redactor().text
ASK: Turn = ("user", "Make the nightly import faster.")


def edit(path: str) -> list[Turn]:
    """A change of a file, which worked."""
    return [("call", path, {"files": [path], "edits": [{"path": path}], "command": ""}), ("result", "ok")]


def read(path: str) -> list[Turn]:
    """A look into a file."""
    return [("call", f"cat {path}", {"files": [path]}), ("result", "text")]


def ran(command: str, error: str = "", gave: str = "ok") -> list[Turn]:
    """A command, and how it went."""
    return [("call", command), ("error", error) if error else ("result", gave)]


SHOWN = "src/limits.py:12: class Bucket"
"""What a search gave."""


def looked(*turns: Turn, parent: str | None = None) -> tuple[Look, Sequence[Message]]:
    """A look at a session, and its messages."""
    session = Session(
        id=SessionId("s"),
        project_id=PROJECT,
        agent="claude",
        native_id="s",
        parent_id=SessionId(parent) if parent else None,
        cwd=_text("/srv/shop"),
        started_at=Micros(0),
        last_at=Micros(77),
    )
    look = Look(session=session)
    messages = talk(*turns)
    for message in messages:
        look.hear(message)
    return look, messages


def points(kind: str, *turns: Turn, parent: str | None = None) -> list[Point]:
    """The points of one kind; every span of every point reads in its message as it is quoted."""
    look, messages = looked(*turns, parent=parent)
    texts = {message.id: message.text for message in messages}
    found = look.points([])
    for point in found:
        assert point.cites, point
        assert all(texts[cite.message_id][cite.start : cite.stop] == cite.quote for cite in point.cites)
    return [point for point in found if point.kind == kind]


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (
            [*ran("npm test", "1 failing"), *ran("npm test", "1 failing"), *ran("npm test")],
            "`npm test` failed 2 times (“1 failing”); then it worked",
        ),
        (
            [*ran("pytest", "no module x"), *ran("pytest", "no module x"), *ran("make check")],
            "`pytest` failed 2 times (“no module x”); then `make check` worked",
        ),
        (
            [
                *ran("npm test", "boom"),
                *ran("npm test", "Error: Cannot find module 'pg'"),
                *ran("npm install"),
                *ran("npm test"),
            ],
            "`npm test` failed 2 times (“Error: Cannot find module 'pg'”); it worked after `npm install`",
        ),
        (
            [*ran("make build", "ld: error"), *ran("make build", "ld: error")],
            "`make build` failed 2 times (“ld: error”) and never worked",
        ),
    ],
)  # fmt: skip
def test_a_command_that_failed_again_is_told_with_what_worked_at_last(turns: list[Turn], told: str) -> None:
    """The same command later, another one for the same purpose, or after something else was run."""
    (point,) = points("failing", ASK, *turns)
    assert point.text == told
    assert (point.section, point.times, point.cost) == ("wrong", 2, 2)


def test_one_failure_is_no_line_and_an_interrupted_call_no_failure() -> None:
    """Trying once is not a trouble."""
    assert not points("failing", ASK, *ran("npm test", "x"), ("call", "npm test"), ("error", "", {"interrupted": True}))


def test_a_tool_that_fails_often_is_told_with_its_rate() -> None:
    """From five calls and a rate of three tenths on, where no command's line tells it already."""
    often = [*ran("ls a", "no such file a"), *ran("ls b", "no such file b"), *ran("ls c"), *ran("ls d"), *ran("ls e")]
    (point,) = points("errors", ASK, *often)
    assert point.text == "Bash failed 2 of 5 times (40 %)"
    assert not points("errors", ASK, *often[2:])
    assert not points("errors", ASK, *ran("npm test", "x"), *ran("npm test", "x"), *often[4:])


def test_files_that_are_read_more_than_twice_are_told() -> None:
    """With whether they were changed meanwhile; the first and the last read are cited."""
    turns = [*read("src/a.py"), *read("src/a.py"), *read("src/a.py"), *read("src/b.py"), *read("src/b.py")]
    (point,) = points("reread", ASK, *turns)
    assert (point.text, point.cost, len(point.cites)) == ("Read 3 times: src/a.py, without an edit of it", 2, 2)


def test_mending_and_checking_again_is_a_loop() -> None:
    """From three on, with whether it ended well."""
    loop = [*edit("src/a.py"), *ran("make check", "1 failed")]
    turns = [*ran("make check", "2 failed"), *loop, *loop, *edit("src/a.py"), *ran("make check")]
    (point,) = points("failing", ASK, *turns)
    assert point.text == "`make check` failed 3 times (“1 failed”); mended and run again 3 times until it worked"
    assert point.cost == 6 and not points("loop", ASK, *turns)
    other = [
        *ran("make lint", "1 failed"),
        *edit("src/a.py"),
        *ran("make check", "x failed"),
        *loop[:2],
        *ran("make check"),
    ]
    (point,) = points("loop", ASK, *other, *edit("src/a.py"), *ran("make test", "no"), *loop[:2], *ran("make test"))
    assert point.text == "Mended and checked again 3 times with `make test` until it passed"
    assert not points("loop", ASK, *turns[: len(loop) * 2])


def test_the_trajectory_tells_phases_and_the_way_to_the_first_edit() -> None:
    """Steps by what they were for; phases in order; seconds and steps until something was changed."""
    look, _ = looked(ASK, *ran("grep -rn a ."), *read("src/a.py"), *edit("src/a.py"), *ran("make check"))
    facts = look.finish(Micros(0), tokens=1200).facts
    assert facts["phases"] == [["explore", 2], ["edit", 1], ["test", 1]]
    assert facts["first_edit"] == {"seconds": 5, "steps": 2, "tokens": 1200}
    (point,) = [one for one in look.points([], 1200) if one.kind == "trajectory"]
    assert point.text == (
        "4 steps (2 explore, 1 edit, 1 test); first edit after 5 s and 2 other steps, about 1,200 tokens"
    )


def test_the_reason_of_a_dead_end_is_the_sentence_that_says_why() -> None:
    """Not the one after it, which only says that it is put back."""
    said = "The cache does not help because every request asks for each of them once. I'll revert that."
    turns: list[Turn] = [*edit("src/a.py"), *ran("make check"), ("assistant", said)]
    (point,) = points("abandoned", ASK, *turns)
    assert point.text.endswith("— The cache does not help because every request asks for each of them once.")
    look, _ = looked(ASK, *turns)
    assert [str(one.title)[:23] for one in look.drafts()] == ["The cache does not help"]


def test_failures_are_told_once() -> None:
    """Attempts that led to a command that works are no second point about the tool."""
    turns = [*ran("pip install -r a", "Error: conflict"), *ran("pip install -r a --pre", "Error: conflict")]
    turns += [*ran("pip install -r a -c b"), *ran("make check"), *ran("git status")]
    (point,) = points("found command", ASK, *turns)
    assert point.text == "Found out that `pip install -r a -c b` works, after 2 failed attempts"
    assert not points("errors", ASK, *turns)


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ([*edit("src/a.py"), *ran("git checkout -- src/a.py"), *edit("src/b.py")], "after 5 s and 2 other steps"),
        ([*edit("src/a.py"), *ran("git stash"), *ran("git stash pop")], "after 1 s and 0 other steps"),
        ([*edit("src/a.py"), *ran("git stash -u")], "; no edit lasted"),
        ([*edit("/tmp/probe.py"), *ran("python /tmp/probe.py"), *edit("src/a.py")], "after 5 s and 2 other steps"),
        ([*edit("src/a.py"), *ran("git restore src/a.py", "pathspec did not match")], "after 1 s and 0 other steps"),
    ],
)
def test_the_first_edit_is_the_first_that_lasted(turns: list[Turn], told: str) -> None:
    """As in `flywheel effect`: none that was put back, unless it came back from the stash; no scratch file."""
    (point,) = points("trajectory", ASK, *turns)
    assert told in point.text


def test_a_session_of_two_looks_has_no_way_to_tell() -> None:
    """That nothing was edited in one or two steps is no point; an edit is."""
    assert not points("trajectory", ASK, *ran("git status"), *read("src/a.py"))
    (point,) = points("trajectory", ASK, *edit("src/a.py"))
    assert point.text.startswith("1 step (1 edit); first edit after 1 s")


def test_phases_stay_few_however_long_a_session_is() -> None:
    """The first forty are told; counters and open calls stay bounded as well."""
    look, _ = looked(ASK, *(turn for n in range(3000) for turn in (*ran(f"make x{n}"), *read(f"src/{n}.py"))))
    assert len(look.trajectory.phases) == 40
    assert len(look.rereads.reads.counts) <= 2000 and len(look.failures.fared) <= 2000
    assert look.finish(Micros(0)).tool_calls == 6000
    assert len(look.points([])) < 80


def test_changes_that_are_put_back_are_an_approach_given_up() -> None:
    """With the agent's reason as a hypothesis, verbatim."""
    reason = "That approach does not work because the provider has no bulk endpoint."
    turns: list[Turn] = [ASK, *edit("src/bulk.py"), ("assistant", f"Hm. {reason} Let me revert it."), *edit("src/c.py")]
    turns += ran("git checkout -- src/bulk.py")
    look, _ = looked(*turns)
    found = points("abandoned", *turns)
    assert [point.text for point in found] == [
        f"Given up: src/bulk.py — {reason}",
        "Changed and put back: src/c.py with `git checkout -- src/bulk.py` — Let me revert it.",
    ]
    (draft,) = {draft.key: draft for draft in look.drafts()}.values()
    assert (draft.category, draft.type, draft.statement) == (Category.DEBUGGING, ClaimType.HYPOTHESIS, reason)


def test_what_the_user_takes_back_is_given_up_and_looking_alone_is_not() -> None:
    """Only what had been changed can be given up."""
    back: Turn = ("user", "Scrap that, we do it by hand.")
    (point,) = points("abandoned", ASK, *edit("src/a.py"), ("assistant", "Done."), back)
    assert point.text == "The user took it back: src/a.py"
    assert not points("abandoned", ASK, *read("src/a.py"), ("assistant", "I see."), back)
    assert not points("abandoned", ASK, *ran("git checkout -b topic"), *edit("src/a.py"), *ran("git checkout -b two"))


def test_a_long_way_that_ended_well_has_its_short_form() -> None:
    """Files that were changed and commands that worked; a check counts when nothing was changed after it."""
    way = [*(turn for _ in range(6) for turn in read("src/a.py")), *ran("make check", "1 failed"), *ran("npm install")]
    way += [*ran("make test"), *edit("src/a.py"), *edit("src/b.py"), *edit("src/a.py"), *ran("ls"), *ran("ls")]
    way += [*ran("ls"), *ran("make check")]
    (point,) = points("procedure", ASK, *way, ("assistant", "It is done."))
    assert point.text == "Of 16 steps these came to it: edit src/a.py, src/b.py; run `npm install`, `make check`"
    back = [*edit("src/c.py"), *ran("git checkout -- src/c.py"), *way]
    assert "src/c.py" not in points("procedure", ASK, *back, ("assistant", "It is done."))[0].text
    assert not points("procedure", ASK, *way[-8:], ("assistant", "It is done."))  # short
    assert not points("procedure", ASK, *way, *ran("make check", "1 failed"), ("assistant", "It fails."))


def test_what_mended_a_command_is_a_hypothesis() -> None:
    """Only what was run between the last failure and the success, when nothing else was changed."""
    error = "Error: Cannot find module 'pg'"
    way = [*ran("npm test", error), *ran("npm install"), *ran("npm test")]
    (draft,) = _drafts(ASK, *way)
    assert draft.statement == f"When `npm test` fails with “{error}”: run `npm install`"
    assert (draft.type, draft.tags) == (ClaimType.HYPOTHESIS, ("bug", "remedy"))
    assert [quote.quote for point in draft.points for quote in point.quotes] == [
        "npm install",
        "npm test",
        error,
        "npm install",
    ]
    assert not _drafts(ASK, *ran("npm test", error), *edit("src/a.js"), *ran("npm install"), *ran("npm test"))


def _drafts(*turns: Turn) -> list[Draft]:
    return looked(*turns)[0].drafts()


@pytest.mark.parametrize(
    ("kind", "turns", "told"),
    [
        (
            "found file",
            [*ran("grep -rn limiter ."), *ran("rg throttle", gave=SHOWN), *read("src/limits.py")],
            "Found src/limits.py after 3 steps",
        ),
        ("found file", [*ran("rg a"), *ran("rg b", gave="src/app.py:3: a"), *read("src/limits.py")], ""),
        ("found file", [*ran("rg throttle", gave=SHOWN), *read("src/limits.py")], ""),  # one search is opening a file
        ("found file", [("user", "See limits.py"), *ran("rg a"), *ran("rg b", gave=SHOWN), *read("src/limits.py")], ""),
        ("found file", [*read("src/limits.py"), *ran("rg a"), *ran("rg b", gave=SHOWN), *read("src/limits.py")], ""),
        (
            "found command",
            [*ran("pytest", "No module named yaml"), *ran("make check")],
            "Found out that `make check` works, after 1 failed attempt",
        ),
        ("found command", [*ran("make check"), *ran("pytest", "No module named yaml"), *ran("make check")], ""),
        ("found command", [*ran("pytest tests/a.py", "1 failed"), *edit("a.py"), *ran("pytest tests")], ""),
        ("found command", [*ran("make check", "1 failed"), *ran("make check")], ""),
    ],
)
def test_what_had_to_be_found_out_is_new(kind: str, turns: list[Turn], told: str) -> None:
    """Files that searches in a row showed, commands after others for the same purpose that could not work."""
    assert [point.text for point in points(kind, ASK, *turns)] == ([told] if told else [])


def test_a_correction_is_told_with_the_act_and_the_words() -> None:
    """What the agent did and what is right, each with its span; of a subagent's session there is none."""
    turns: list[Turn] = [ASK, *ran("npm install left-pad"), ("assistant", "Installed.")]
    turns.append(("user", "No, we use pnpm here, not npm."))
    (point,) = points("correction", *turns)
    assert point.text == "You corrected “npm install left-pad”: No, we use pnpm here, not npm."
    assert [cite.quote for cite in point.cites] == ["No, we use pnpm here, not npm.", "npm install left-pad"]
    assert not points("correction", *turns, parent="p")


def test_a_check_that_failed_last_is_left_open() -> None:
    """With the line that says what failed."""
    (point,) = points(
        "check fails", ASK, *edit("src/a.py"), *ran("make check", "collected 3\nAssertionError: 3 is not 4")
    )
    assert point.text == "The last check failed: `make check`"
    assert [cite.quote for cite in point.cites] == ["make check", "AssertionError: 3 is not 4"]


def test_results_without_calls_and_calls_without_results_are_counted() -> None:
    """A transcript that lost records is looked at all the same."""
    look, _ = looked(ASK, ("result", "lost its call"), ("call", "make check"))
    assert look.finish(Micros(0)).tool_calls == 2
    assert [message.kind for message in talk(("call", "x"))] == [MessageKind.TOOL_CALL]
