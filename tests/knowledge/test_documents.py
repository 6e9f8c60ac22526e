"""Documents: what they are, of which day, what they say, and how each format reads. Nothing is stored here."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.errors import BadInput
from flywheel.knowledge.documents import About, day_of, understand
from flywheel.knowledge.formats import Readable, readable
from flywheel.knowledge.regions import subject_of
from flywheel.knowledge.telling import statements_of
from flywheel.model import Micros

NOW = Micros(int(datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp() * 1_000_000))
WRITTEN = Micros(int(datetime(2026, 5, 20, tzinfo=UTC).timestamp() * 1_000_000))


def about(name: str, text: str, **given: object) -> tuple[About, Readable]:
    """A document that lies on a disk since `WRITTEN`."""
    found = readable(name, text.encode())
    return understand(name, found, file_time=WRITTEN, now=NOW, **given), found  # type: ignore[arg-type]


def said(name: str, text: str, *, every: bool = False) -> list[tuple[str, str, str, str]]:
    """Subject, attribute, value and scope of each statement; sentences that no rule parses in the first place."""
    known, found = about(name, text)
    rows = []
    for told in statements_of(found, known, every=every):
        words = found.text[told.start : told.stop]
        assert words.strip() == words
        one = told.statement
        rows.append((one.subject, one.attribute, one.value, one.scope) if one else (words, "", "", ""))
    return rows


def day(at: Micros) -> str:
    """The UTC day."""
    return datetime.fromtimestamp(at / 1e6, UTC).date().isoformat()


KINDS = [
    ("docs/adr/0007-queue.md", "# 7. Queue\n\nStatus: accepted\n\n## Decision\n", "adr", "design"),
    ("docs/adr/0008-queue.md", "# 8. Queue\n\nStatus: proposed\n", "adr", "draft"),
    ("docs/runbooks/exports.md", "# Exports\n", "runbook", "runbook"),
    ("notes/incident-2026-04-11.md", "# Exports went early\n", "incident", "runbook"),
    ("postmortem.txt", "Exports went early", "incident", "runbook"),
    ("docs/design/exports.md", "# Exports\n", "design", "design"),
    ("exports.md", "# RFC 12: exports\n", "design", "design"),
    ("README.md", "# Tern\n", "readme", "conversation"),
    ("2026-03-02-kickoff.md", "# Exports\n", "minutes", "conversation"),
    ("exports.md", "# Meeting minutes\n", "minutes", "conversation"),
    ("slack-export.json", '[{"user": "maren", "text": "hello there", "ts": "1767225600.1"}]', "chat", "conversation"),
    ("faq-draft.md", "# FAQ\n", "draft", "draft"),
    ("exports.md", "---\nkind: runbook\n---\n# Exports\n", "runbook", "runbook"),
    ("exports.md", "---\nstatus: draft\n---\n# Exports\n", "draft", "draft"),
    ("anything.txt", "Exports are kept.", "note", "conversation"),
]


@pytest.mark.parametrize(("name", "text", "kind", "rank"), KINDS)
def test_a_kind_is_guessed_from_front_matter_name_and_heading(name: str, text: str, kind: str, rank: str) -> None:
    """In this order; a kind that is given goes before all of them, and there are no others."""
    found, _ = about(name, text)
    assert (found.kind, found.rank) == (kind, rank)
    assert about(name, text, kind="note")[0].kind == "note"
    with pytest.raises(BadInput, match="must be one of"):
        about(name, text, kind="poem")


DATES = [
    ("a.md", "---\ndate: 2026-03-02\n---\n# A\n", "2026-03-02", "front matter"),
    ("a.md", "---\ncreated: 2025-01-01\nupdated: 2026-03-02\n---\n# A\n", "2026-03-02", "front matter"),
    ("a.md", "# Exports, 2 March 2026\n", "2026-03-02", "heading"),
    ("a.md", "# Exports\n\nDate: March 2, 2026\n", "2026-03-02", "heading"),
    ("a.md", "# Exports\n\n*2026-03-02*\n", "2026-03-02", "heading"),
    ("2026-03-02-exports.md", "# Exports\n", "2026-03-02", "file name"),
    ("exports_20260302.txt", "Exports\n", "2026-03-02", "file name"),
    ("a.eml", "From: Maren <m@tern.example>\nDate: Mon, 02 Mar 2026 10:00:00 +0100\nSubject: Exports\n\nHello.\n",
     "2026-03-02", "mail header"),
    ("a.md", "# Exports\n\nIn 2019 we had none.\n", "2026-05-20", "file time"),
    ("a.md", "---\ndate: soon\n---\n# Exports of 2026-13-45\n", "2026-05-20", "file time"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "when", "by"), DATES)
def test_the_date_is_the_sources_own(name: str, text: str, when: str, by: str) -> None:
    """Else the file's, and it says so; a date that is given goes before all."""
    found, _ = about(name, text)
    assert (day(found.said_at), found.dated_by, found.own_date) == (when, by, by != "file time")
    given, _ = about(name, text, date=NOW)
    assert (given.said_at, given.dated_by) == (NOW, "given")


def test_a_document_says_what_its_lines_rows_and_sentences_say() -> None:
    """Headings name the subject, a table's first column the scope; code, quotes and questions say nothing."""
    text = """---
title: "Design: exports"
date: 2026-03-20
---
# Design: exports
Author: Ines

## Retention

Exports are kept for 90 days. On the enterprise plan,
exports are kept for 365 days. Should they be kept longer?

> Exports are kept for 5 days.

## Limits

- Owner: Maren
- **Format**: CSV
- [ ] Retention: 7 days

| Plan | Max size |
|------|----------|
| basic | 1 GB |
| enterprise | 10 GB |

```
retention: 1 day
```
`EXPORT_TIMEOUT` = 15 min
"""
    assert said("exports.md", text) == [
        ("export", "retention", "90 days", ""),
        ("export", "retention", "365 days", "plan:enterprise"),
        ("export", "owner", "maren", ""),
        ("export", "format", "csv", ""),
        ("export", "max size", "1 gb", "plan:basic"),
        ("export", "max size", "10 gb", "plan:enterprise"),
        ("export_timeout", "value", "15 min", ""),
    ]


def test_what_is_superseded_by_its_own_word_says_nothing() -> None:
    """An ADR that says it was superseded is evidence, no more."""
    text = "# 7. Queue\n\nStatus: Superseded by 9\n\nWe use Redis for the queue.\n"
    assert said("adr/0007.md", text) == []
    assert said("adr/0007.md", text.replace("Superseded by 9", "Accepted")) == [("queue", "use", "redis", "")]


def test_a_row_speaks_of_its_first_cell() -> None:
    """Where the heads of the columns say what is said."""
    text = "| Service | Owner | Port |\n|---|---|---|\n| billing | Maren | 7400 |\n| labels | - | 7411 |\n"
    assert said("services.md", text) == [
        ("billing", "owner", "maren", ""),
        ("billing", "port", "7400", ""),
        ("label", "port", "7411", ""),
    ]


def test_dated_headings_and_stamps_date_what_stands_below() -> None:
    """A journal's entries have their own days."""
    first, second = "The owner of exports is Maren.", "- Exports are kept for 9 days."
    text = f"# Journal\n\n## 2026-03-02\n\n{first}\n\n## 2026-03-09\n\n{second}\n"
    known, found = about("journal.md", text)
    assert [day(told.said_at or Micros(0)) for told in statements_of(found, known)] == ["2026-03-02", "2026-03-09"]


def test_who_speaks_is_no_subject() -> None:
    """Chats, captions and minutes: names and times before a line are passed over."""
    chat = (
        '{"messages": [{"author": {"name": "Maren"}, "timestamp": "2026-05-02T10:02:00Z", "content":'
        ' "exports are kept for 45 days now"}, {"author": {"name": "Ines"}, "content": "Are you sure?"}]}'
    )
    assert said("export.json", chat) == [("export", "retention", "45 days", "")]
    known, found = about("export.json", chat)
    (told,) = statements_of(found, known)
    assert told.said_at is not None and day(told.said_at) == "2026-05-02"
    captions = (
        "WEBVTT\n\n1\n00:00:01.000 --> 00:00:03.000\n<v Maren>Exports are kept\n\n2\n00:00:03.000 --> 00:00:05.000\n"
        "<v Maren>for 45 days.\n\n3\n00:00:06.000 --> 00:00:07.000\n<v Ines>The owner of exports is Tomasz.\n"
    )
    assert said("call.vtt", captions) == [("export", "retention", "45 days", ""), ("export", "owner", "tomasz", "")]
    minutes = (
        "# Meeting, 2026-05-02\n\nMaren: The owner of exports is Tomasz.\n10:05 Ines: Exports are kept for 9 days.\n"
    )
    assert said("m.md", minutes) == [("export", "owner", "tomasz", ""), ("export", "retention", "9 days", "")]


def test_mail_and_pages_are_read_as_a_person_reads_them() -> None:
    """A mail's head and what it quotes say nothing; of HTML the text counts, not scripts."""
    mail = (
        "From: Maren <m@tern.example>\nTo: i@tern.example\nDate: Mon, 02 Mar 2026 10:00:00 +0100\nSubject: Exports\n"
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        "Exports are kept for 45=20days.\n\n> The owner of exports is Ines.\n"
    )
    assert said("a.eml", mail) == [("export", "retention", "45 days", "")]
    page = (
        "<html><head><title>Exports</title><script>var owner = 'x: y';</script></head><body><h1>Exports</h1><ul>"
        "<li>Owner: Maren</li></ul><table><tr><th>Plan</th><th>Retention</th></tr><tr><td>pro</td><td>60 days</td></tr>"
        "</table><p>Exports are stored in&nbsp;<b>S3</b>.</p></body></html>"
    )
    assert said("a.html", page) == [
        ("export", "owner", "maren", ""),
        ("export", "retention", "60 days", "plan:pro"),
        ("export", "storage", "s3", ""),
    ]


def test_json_that_is_no_chat_is_lines_of_keys() -> None:
    """Nested keys become paths."""
    assert said("s.json", '{"exports": {"retention": "30 days", "enabled": true}}') == [
        ("exports.retention", "value", "30 days", ""),
        ("exports.enabled", "value", "true", ""),
    ]


def test_a_notes_other_sentences_come_too() -> None:
    """What somebody noted is kept though no rule parses it; questions, doubts and conditions are not."""
    text = "The harbour crane lifts 40 tonnes. Is it so? Maybe it lifts more. If it rains, it stops.\n"
    assert said("n.md", text, every=True) == [("The harbour crane lifts 40 tonnes.", "", "", "")]
    assert said("n.md", text) == []


def test_a_sentence_goes_on_behind_a_names_own_mark() -> None:
    """Initials, abbreviations and titles with a mark do not end it."""
    text = "The author of What Is Left? is Ines.\nThe owner of A.B. Crane is Maren.\n"
    assert said("n.md", text) == [("what is left", "author", "ines", ""), ("a.b. crane", "owner", "maren", "")]


@pytest.mark.parametrize(
    ("heading", "subject"),
    [
        ("Runbook: exports", "exports"),
        ("3.2 Exports (draft)", "Exports"),
        ("ADR 12: Price cache", "Price cache"),
        ("Kick-off notes: exports, 2026-03-02", "exports,"),
        ("Overview", ""),
        ("Open questions and next steps", ""),
        ("Retention", ""),
        ("How long are exports kept?", ""),
        ("What we have learned about everything so far", ""),
    ],
)
def test_what_a_heading_speaks_of(heading: str, subject: str) -> None:
    """Without numbers, dates and words for the sort of document; nothing where it only says where one is."""
    assert subject_of(heading).rstrip(",") == subject.rstrip(",")


BAD = [
    ("a.png", b"\x89PNG", "is no document that is read"),
    ("a.md", b"text\0more", "is no text in UTF-8"),
    ("a.md", b"\xff\xfa\xff", "is no text in UTF-8"),
    ("a.json", b"{", "is no JSON"),
    ("a.eml", b"\n\n", "is no mail"),
    ("a.md", b"x" * ((1 << 20) + 1), "larger than 1 MB"),
]


@pytest.mark.parametrize(("name", "data", "message"), BAD)
def test_what_is_no_text_is_refused_with_a_reason(name: str, data: bytes, message: str) -> None:
    """The message names the file and what to do."""
    with pytest.raises(BadInput, match=message):
        readable(name, data)


def test_other_encodings() -> None:
    """A byte order mark is none of the text; UTF-16 with one is read."""
    assert readable("a.md", b"\xef\xbb\xbf# A\r\n").text == "# A\n"
    assert readable("a.txt", "Exports".encode("utf-16")).text == "Exports"


@given(st.sampled_from(["a.md", "a.html", "a.vtt", "a.txt"]), st.text(max_size=300))
def test_any_text_is_read(name: str, text: str) -> None:
    """Places are in order, do not overlap but for statements of one sentence, and lie within the text."""
    known, found = about(name, text.replace("\0", ""))
    at = found.begins
    for told in statements_of(found, known, every=True):
        assert at <= told.start < told.stop <= len(found.text)
        at = told.start


@given(st.text(max_size=40))
def test_any_text_may_be_a_date(text: str) -> None:
    """Nothing raises."""
    found = day_of(text)
    assert found is None or found > 0
