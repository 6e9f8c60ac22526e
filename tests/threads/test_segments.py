"""Where a session is cut, what a turn takes in, and what likeness rests on: pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from benchmarks.corpora.threads import rows_of

from flywheel.embed.static import StaticEmbedder, load_static
from flywheel.model import ProjectId
from flywheel.threads.rules import FEW, MANY, Rarity, Shelf, alike, anew, place_for
from flywheel.threads.segments import segments_of
from flywheel.threads.topics import Topic, Turn, packed, topic_of, total, unpacked
from flywheel.threads.turns import turns_of

MAIL = "Mails that bounce are retried every minute by the outbox, give the outbox a backoff"
SMTP = "the outbox gives up too early when the mail server answers with a temporary SMTP code"
CHART = "The revenue chart on the dashboard counts refunds as income, subtract the refunds"
YEARS = "compare the revenue chart with the year before as a dashed line on the dashboard"


def turns(*said: str) -> Sequence[Turn]:
    """A session's turns."""
    session, messages, _ = rows_of("s", "claude", 0, [tuple(line.split(" ", 1)) for line in said], ProjectId("p"))  # type: ignore[misc]
    return turns_of(messages, session)


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    """The product's."""
    return load_static()


@pytest.mark.parametrize("seeing", [True, False])
@pytest.mark.parametrize(
    ("prompts", "begins"),
    [
        ([MAIL, SMTP], [0]),
        ([MAIL, CHART], [0, 1]),
        ([MAIL, "yes", "go on", CHART, "commit it", YEARS], [0, 3]),
        (["hello", MAIL, SMTP], [0]),
        ([MAIL, SMTP, CHART, YEARS, MAIL], [0, 2, 4]),
        (["ok", "thanks"], []),
    ],
)
def test_a_session_is_cut_where_its_topic_shifts(
    embedder: StaticEmbedder, seeing: bool, prompts: list[str], begins: list[int]
) -> None:
    """With an embedder and without; what says nothing of a topic goes with what was before."""
    found = segments_of(turns(*(f"> {prompt}" for prompt in prompts)), embedder if seeing else None)
    assert [part[0].start for part in found] == begins
    assert sum(len(part) for part in found) == (len(prompts) if begins else 0)


def test_an_aside_is_no_shift(embedder: StaticEmbedder) -> None:
    """When the talk comes back at once, it was one topic; announced, a shift is seen earlier."""
    mixed = f"the outbox and its mails: {CHART} of the outbox"
    assert len(segments_of(turns(f"> {MAIL}", f"> {mixed}", f"> {SMTP}"), embedder)) == 1
    plain = "> show how many mails a day were sent on the admin page with a chart"
    assert len(segments_of(turns(f"> {MAIL}", plain), embedder)) <= len(
        segments_of(turns(f"> {MAIL}", plain.replace("> ", "> Next topic: ")), embedder)
    )


def test_a_turn_is_prompt_reply_and_edited_files() -> None:
    """What comes before the first prompt belongs to none, and reads are no edits."""
    (turn,) = turns("< hello", "> fix it", "< I will", "@ src/a.py src/b.py", "@ src/a.py", "< done")
    assert (turn.prompt, turn.reply, turn.files) == ("fix it", "I will\ndone", ("src/a.py", "src/b.py"))
    assert (turn.start, turn.stop) == (1, 5)


def test_what_all_sessions_share_ties_none(embedder: StaticEmbedder) -> None:
    """The more segments have a word or a file, the less it says."""
    one, two = (topic_of(turns(f"> {said}", "@ src/all.py"), embedder) for said in (MAIL, CHART))
    fresh, seen = Rarity(), Rarity()
    for said in (MAIL, CHART, SMTP, YEARS) * 5:
        seen.learn(topic_of(turns(f"> {said}", "@ src/all.py"), embedder))
    assert alike(one, two, seen) < alike(one, two, fresh)
    assert seen.of("file:src/all.py") < seen.of("file:src/other.py")


def test_sums_do_not_depend_on_order(embedder: StaticEmbedder) -> None:
    """A thread's topic is the same whichever segment came first; vectors survive being stored."""
    topics = [topic_of(turns(f"> {said}"), embedder) for said in (MAIL, SMTP, CHART)]
    one, two = total(topics, 500), total(reversed(topics), 500)
    assert one.words == two.words and np.array_equal(one.vector, two.vector)  # type: ignore[arg-type]
    assert np.array_equal(unpacked(packed(one.vector)), one.vector) and unpacked("") is None  # type: ignore[arg-type]


def test_nothing_is_like_nothing() -> None:
    """An empty shelf has no place, and a topic without words is like none."""
    shelf = Shelf(Rarity(), 0)
    empty = Topic(vector=None)
    assert place_for(empty, shelf) is None
    shelf.put(Topic(vector=None, words={"mail": 1.0}))
    assert place_for(empty, shelf) is None
    shelf.drop(0)
    assert place_for(Topic(vector=None, words={"mail": 1.0}), shelf) is None


@pytest.mark.parametrize(
    ("before", "after", "due"),
    [(0, 1, False), (3, 4, True), (4, 5, False), (7, 8, True), (5, 40, True), (16, 31, False), (MANY, 3 * MANY, False)],
)
def test_threads_are_put_together_anew_when_a_project_has_doubled(before: int, after: int, due: bool) -> None:
    """At 4, 8, 16, ... segments, and no more when there are thousands."""
    assert FEW == 4 and anew(before, after) is due
