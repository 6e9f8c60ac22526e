"""The rules of digests: never over, nothing twice, every sentence somebody's own, the same again for the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harvest.rules_talk import DAY, Turn, talk

from flywheel.digests import LONG, SHORT, TOKENS
from flywheel.digests.gathering import Past, Standing, digest_project, digest_thread
from flywheel.digests.picking import Line, Written, told, write
from flywheel.digests.session import KEPT, Cited, Hearing, digest_session
from flywheel.model import Clean, Micros, ProjectId, Retrospective, SessionId
from flywheel.text.redact import Redactor
from flywheel.text.tokens import count
from flywheel.text.words import terms

CLEAN = Redactor().text

TALK: tuple[Turn, ...] = (
    ("user", "Make the nightly import faster. It takes 40 minutes for the orders table."),
    ("assistant", "I will look at src/mail/outbox.py first."),
    ("call", "make check"),
    ("result", "7 passed"),
    ("assistant", "The import reads `orders` row by row. We batch 500 rows with COPY now, so it takes 3 minutes."),
    ("user", "Good. We keep Redis for the queue, because Postgres NOTIFY lost jobs twice."),
    ("assistant", "Noted. Redis stays for the queue. Should I write that down?"),
)


def looked(**facts: object) -> Retrospective:
    """What the look back found."""
    return Retrospective(
        session_id=SessionId("s"),
        project_id=ProjectId("p"),
        task=CLEAN("Make the nightly import faster."),
        outcome="done",
        turns=2,
        tool_calls=1,
        tool_errors=0,
        facts=facts,
        created_at=Micros(0),
        updated_at=Micros(0),
    )


def test_what_was_found_to_work_is_told() -> None:
    """A command that a session had to find out stands in its longer digest, so that no other has to."""
    digests = digest_session(talk(*TALK), "s", looked(found=["`npm run vitest --prefix web`"]))
    assert "Found out what works: `npm run vitest --prefix web`" in digests[LONG].text
    assert "Found out" not in digest_session(talk(*TALK), "s", looked())[LONG].text


def test_both_lengths_tell_what_matters() -> None:
    """The long one has task, outcome, files and what was left open; the short one the sentences that say most."""
    look = looked(edited=["src/mail/outbox.py"], open=["Write the runbook."], because="the user is content")
    digests = digest_session(talk(*TALK), "s", look)
    long, short = str(digests[LONG].text), str(digests[SHORT].text)
    assert long.split("\n")[:2] == ["Make the nightly import faster.", "Outcome: done (the user is content)"]
    assert "Files: src/mail/outbox.py" in long and "Left open: Write the runbook." in long
    assert "We batch 500 rows with COPY now, so it takes 3 minutes." in long
    assert "look at src/mail/outbox.py first" not in long, "only the reply that closes a turn counts"
    assert "7 passed" not in long and "Redis" in short and len(short) < len(long)


def test_every_sentence_is_verbatim_and_cited() -> None:
    """Each line that somebody said stands in the message that it names, on one line."""
    messages = {str(message.id): " ".join(message.text.split()) for message in talk(*TALK)}
    for written in digest_session(talk(*TALK), "s", None).values():
        assert written.lines
        for line in written.lines:
            assert line.text in messages[line.ids[0].removeprefix("message:")]


def test_what_a_claim_cites_comes_first_and_names_the_claim() -> None:
    """A sentence that became a decision is told before others of its sort, with the claim's id."""
    messages = talk(("user", "The lamp is green here. The wall is white there. The door is brown now."))
    text = messages[0].text
    start = text.index("The wall")
    cited = {str(messages[0].id): [Cited(claim="k1", decision=True, start=start, stop=start + 10)]}
    lines = digest_session(messages, "s", None, cited)[SHORT].lines
    wall = next(line for line in lines if "wall" in line.text)
    assert wall.ids == (f"message:{messages[0].id}", "claim:k1")
    others = [line.weight for line in lines if line is not wall]
    assert all(wall.weight > weight for weight in others)


def test_the_same_said_twice_is_told_once() -> None:
    """Of sentences with the same words one is enough when others say something new."""
    same = "The scheduler drops late jobs after 30 seconds"
    turns: list[Turn] = [("user", f"{same}. Once more: {same}, {number} times.") for number in range(9)]
    turns.append(("user", "Billing rounds halves to even, as ISO 31-0 says."))
    short = digest_session(talk(*turns), "s", None)[SHORT]
    assert "ISO 31-0" in short.text and short.text.count("scheduler") <= 3


def test_quotes_secrets_and_code_are_left_out() -> None:
    """What somebody else said, what was redacted, and code are not the session's words."""
    turns: list[Turn] = [
        ("user", "> The old wiki says that we use Oracle everywhere.\n\nIgnore that page, we use Postgres 16."),
        ("user", "The key is sk-ant-REDACTED for staging."),
        ("user", "Like this:\n```python\nfrobnicate = compute(everything)\n```\nThat is what the parser needs."),
    ]
    text = digest_session(talk(*turns), "s", None)[LONG].text
    assert "Postgres 16" in text and "Oracle" not in text and "frobnicate" not in text and "redacted" not in text


def test_memory_is_bounded() -> None:
    """However long a session is, so many sentences are held, and the most telling are among them."""
    hearing = Hearing(session="s")
    for number in range(3):
        many = " ".join(f"A long walk brought some more bread home, part {'abcdefgh'[at % 8]}x." for at in range(59))
        for message in talk(*[("user", many)] * 20, session=f"s{number}"):
            hearing.hear(message)
    for message in talk(("user", "PostgreSQL 16.2 replaced MySQL 5.7 in the billing service.")):
        hearing.hear(message)
    assert len(hearing.held) == KEPT
    assert "PostgreSQL 16.2" in hearing.finish(None)[SHORT].text


WORDS = st.lists(
    st.sampled_from(["redis", "queue", "the", "Postgres", "17", "drops", "日本語", "naïve", "x_y"]), max_size=30
)
LINES = st.lists(
    st.builds(
        lambda number, words, kind: Line(
            kind=kind,
            text=CLEAN(" ".join(words) or "empty"),
            ids=(f"message:{number}",),
            place=(1, number),
            words=frozenset(terms(" ".join(words))),
        ),
        st.integers(0, 50),
        WORDS,
        st.sampled_from(["user", "agent", "task"]),
    ),
    max_size=25,
)


@given(first=LINES, others=LINES, limit=st.integers(0, 120))
@settings(max_examples=60, deadline=None)
def test_never_over_and_the_same_again(first: list[Line], others: list[Line], limit: int) -> None:
    """Whatever is offered, the text costs at most the limit as written; the same lines give the same digest."""
    values = {word: 1.0 for line in others for word in line.words}
    written = write(first, others, values, limit)
    assert count(written.text) <= limit or not written.lines
    assert write(first, others, values, limit) == written
    assert [line.place for line in written.lines] == sorted(line.place for line in written.lines)
    assert set(written.lines) <= {*first, *others}


def past(number: int, task: str, *said: str, outcome: str = "done") -> Past:
    """A session of the ``number``-th day."""
    lines = [
        Line(kind="user", text=CLEAN(text), ids=(f"message:{number}-{at}",), place=(at,), words=frozenset(terms(text)))
        for at, text in enumerate(said)
    ]
    return Past(id=f"s{number}", at=Micros(number * DAY), task=CLEAN(task), outcome=CLEAN(outcome), lines=lines)


def test_a_project_is_told_by_its_last_sessions_and_what_stands() -> None:
    """The newest first, each in a few words with its end; confirmed decisions between them; ids of both."""
    sessions = [past(number, f"Ship part {number} of the billing rewrite") for number in range(1, 40)]
    standing = [Standing(entry="e1", title=CLEAN("Redis for the queue"))]
    digests = digest_project(sessions, standing)
    assert digests[SHORT].text.split("\n")[0] == "Ship part 39 of the billing rewrite (done)"
    assert digests[LONG].text.split("\n")[0] == "1970-02-09 Ship part 39 of the billing rewrite (done)"
    for written in digests.values():
        assert "Decided: Redis for the queue" in written.text and written.lines[0].ids == ("session:s39",)
    assert {"kind": "known", "ids": ["entry:e1"]} in digests[SHORT].sources


def test_a_thread_is_told_by_where_it_stands_and_what_was_said() -> None:
    """The last session's task leads; what several sessions speak of is worth more than what one does."""
    digests = digest_thread(
        [
            past(1, "Choose a queue", "Redis keeps the queue order.", "Lunch was late yesterday again."),
            past(2, "Tune the queue", "Redis needs maxmemory 2gb for the queue.", outcome="failed"),
        ]
    )
    short = digests[SHORT].text
    assert short.startswith("Tune the queue (failed)") and "maxmemory 2gb" in short
    assert all("session:" in id or "message:" in id for line in digests[LONG].lines for id in line.ids)


@pytest.mark.parametrize("length", [SHORT, LONG])
def test_nothing_gives_nothing(length: str) -> None:
    """No messages, sessions or decisions give an empty digest, not a made-up one."""
    empty = [digest_session([], "s", None), digest_thread([]), digest_project([], [])]
    assert [one[length].text for one in empty] == ["", "", ""]
    blank = digest_session([], "s", replace(looked(), task=Clean(""), outcome="unclear"))
    assert blank[length].text == "" and TOKENS[length] > 0
    assert told(()) == "" and Written(lines=()).sources == ()
