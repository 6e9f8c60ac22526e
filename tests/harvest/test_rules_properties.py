"""Whatever is said: every citation reads as it is quoted, and nothing crashes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harvest.rules_talk import Turn, talk

from flywheel.harvest.rules import drafts_of
from flywheel.text.prose import sentences

_PIECES = st.sampled_from(
    [
        "We decided to use **PostgreSQL** for the ledger because it is boring. ",
        "we're switching from Celery to Dramatiq for jobs",
        "Never commit secrets!\n",
        "- always run `make check`\n- [ ] write docs\n",
        "> we agreed on this\n",
        "```\ncode();\n```\n",
        "The root cause is the lease in src/mail/worker.py: it ends too early. ",
        "Fixed it by renewing `Outbox.renew`. ",
        "The import fails with a timeout. ",
        "That fixed it. ",
        "Scrap that. ",
        "Yes, do that. ",
        "Option B\n",
        "Option A: keep it\nOption B: use Redis for the queue of mails\n",
        "I would store the state in DynamoDB with a TTL.\n\n",
        "I prefer tabs — they’re “fine”. ",
        "<system-reminder>\nWe decided.\n</system-reminder>\n",
        "\n\n",
        "\t",
        "KeyError: 'x'\n",
        "[redacted:api-key] ",
        "我们决定使用PostgreSQL。",
        "\u2028",
        "İstanbul ǅ ﬁ ",
        "# Decision: stay on REST\n",
        "TODO: later\n",
        "Umbra Reports ends on March 31. ",
    ]
)
_TEXT = st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=9).map("".join)
_TURN = st.tuples(st.sampled_from(["user", "assistant", "call", "result", "error", "web", "summary"]), _TEXT)


@settings(max_examples=150, deadline=None)
@given(turns=st.lists(_TURN, max_size=7))
def test_every_citation_reads_as_it_is_quoted(turns: list[Turn]) -> None:
    """For any mix of messages each quote equals its span, is not empty and holds no redacted secret."""
    messages = talk(*turns)
    texts = {message.id: message.text for message in messages}
    for draft in drafts_of(messages, floor=0.0).drafts:
        assert draft.points[0].attribute in ("", "cause", "fix")
        assert 0.0 <= draft.score <= 1.0
        for point in draft.points:
            assert point.quotes
            for quote in point.quotes:
                assert quote.quote == texts[quote.message_id][quote.start : quote.stop] != ""
                assert "[redacted:" not in quote.quote


@settings(max_examples=150, deadline=None)
@given(text=_TEXT)
def test_sentences_are_in_place_and_in_order(text: str) -> None:
    """Spans do not overlap, and the plain form has the length of the span."""
    last = 0
    for one in sentences(text):
        assert last <= one.start < one.stop <= len(text)
        assert len(one.plain) == one.stop - one.start
        last = one.stop


@settings(max_examples=60, deadline=None)
@given(turns=st.lists(_TURN, max_size=6), floor=st.floats(0, 1))
def test_a_higher_floor_never_lets_more_through(turns: list[Turn], floor: float) -> None:
    """The floor only takes away."""
    messages = talk(*turns)
    low = {draft.key for draft in drafts_of(messages, floor=0.0).drafts}
    high = drafts_of(messages, floor=floor).drafts
    assert {draft.key for draft in high} <= low
    assert all(draft.score >= floor for draft in high)
