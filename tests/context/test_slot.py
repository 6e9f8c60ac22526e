"""The slot's environment, the cues, and small words of dates and lines."""

from __future__ import annotations

from flywheel.context.ask import DAY, cues_of, day, recency, shorten
from flywheel.context.gitfacts import Commit, GitFacts
from flywheel.context.slot import SlotSource
from flywheel.model import Micros
from flywheel.text.compose import fixed

from .conftest import NOW, MakeAsk

GIT = GitFacts(
    changed=(fixed("src/billing/cents.py"), fixed("README.md")),
    touched=(fixed("src/billing/cents.py"), fixed("src/mail/outbox.py")),
    commits=(Commit(at=NOW, subject=fixed("Round half to even")),),
)


def test_slot_tells_where_and_what_is_under_way(make_ask: MakeAsk) -> None:
    """Project, folder, branch, changed files, commits, and files of the commits that are not changed, each dated."""
    pieces = SlotSource().offer(make_ask(git=GIT, branch="fix-rounding"))
    texts = [piece.levels[0].text for piece in pieces]
    assert [piece.relevance for piece in pieces] == sorted((p.relevance for p in pieces), reverse=True)
    assert "branch fix-rounding" in texts[0] and "shop" in texts[0]
    assert "src/billing/cents.py, README.md" in texts[1]
    assert "Round half to even (2026-09-" in texts[2]
    assert "src/mail/outbox.py" in texts[3] and "cents" not in texts[3]
    assert all(f"[fw:{piece.short}]" in text for piece, text in zip(pieces, texts, strict=True))


def test_slot_says_nothing_to_a_prompt_nor_twice(make_ask: MakeAsk) -> None:
    """A prompt gets none of it; what the session has is left out until it changes."""
    source = SlotSource()
    assert source.offer(make_ask(git=GIT, query="rounding of cents")) == []
    had = tuple(piece.id for piece in source.offer(make_ask(git=GIT)))
    assert source.offer(make_ask(git=GIT, exclude=had)) == []
    changed = GitFacts(changed=GIT.changed[:1], touched=GIT.touched, commits=GIT.commits)
    assert len(source.offer(make_ask(git=changed, exclude=had))) == 1


def test_many_files_are_counted(make_ask: MakeAsk) -> None:
    """A long list has shorter levels, down to a number."""
    names = tuple(fixed("a.py") for _ in range(30))
    piece = SlotSource().offer(make_ask(git=GitFacts(changed=names)))[1]
    assert "and 14 more" in piece.levels[0].text and "and 24 more" in piece.levels[1].text
    assert "30" in piece.levels[2].text and "a.py" not in piece.levels[2].text


def test_cues_come_from_the_prompt_alone_when_there_is_one() -> None:
    """A prompt says what it is about; otherwise branch, files, tasks and commits do, in this order of weight."""
    assert set(cues_of("round the cents", "fix-login", GIT)) == {"round", "cents"}
    cues = cues_of("", "fix-login", GIT, ("Ship the invoices",))
    assert cues["login"] == 1.0 and cues["billing"] == 0.8 and cues["invoices"] == 0.7 and cues["mail"] == 0.4
    assert "src" not in cues and "main" not in cues_of("", "main", GitFacts())


def test_overlap_is_between_nothing_and_all(make_ask: MakeAsk) -> None:
    """A text that speaks of none of the cues has 0, one that speaks of the strongest has 1."""
    ask = make_ask(branch="invoice-rounding", git=GIT)
    assert ask.overlap("Colours of the header") == 0
    assert 0 < ask.overlap("The outbox mails") < ask.overlap("invoice rounding") <= 1
    assert make_ask().overlap("anything") == 0


def test_days_recency_and_shortening() -> None:
    """UTC days; a half-life halves; lines are squeezed and cut between words."""
    assert day(Micros(0)) == "1970-01-01"
    assert recency(NOW - 10 * DAY, NOW, 10) == 0.5 and recency(NOW + DAY, NOW, 10) == 1
    assert shorten("one  two\nthree", 100) == "one two three"
    assert shorten("one two three four", 14) == "one two three…"
    assert len(shorten("x" * 500, 50)) == 50
