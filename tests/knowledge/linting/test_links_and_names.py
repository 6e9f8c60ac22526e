"""Which links a text has and where they lead, which pages it names, and what would answer a question."""

from __future__ import annotations

import pytest

from flywheel.knowledge.linting.links import links_of
from flywheel.knowledge.linting.names import Names, helping
from flywheel.knowledge.linting.values import Named


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("see [the ADR](../../raw/docs/adr/1.md)", ["raw/docs/adr/1.md"]),
        ("[one](a.md), [two](b.md#part) and [three](<c d.md>)", ["wiki/x/a.md", "wiki/x/b.md", "wiki/x/c d.md"]),
        ("[with space](c%20d.md) and [a \\[note\\]](n.md)", ["wiki/x/c d.md", "wiki/x/n.md"]),
        ('[brackets](a(1).md) [titled](t.md "a title")', ["wiki/x/a(1).md", "wiki/x/t.md"]),
        ("[out](../../../etc/passwd)", ["../etc/passwd"]),
        ("[root](/docs/a.md)", ["docs/a.md"]),
        ("[web](https://a.example/x.md) [mail](mailto:a@b.example) [here](#part) [net](//b.example/c)", []),
        ("![picture](p.png) and `[code](c.md)` and [fw:7f3a1c] (not a link)", []),
    ],
)
def test_links(line: str, paths: list[str]) -> None:
    """Markdown links lead from where the text lies; other machines, pictures and code are left out."""
    assert [link.path for link in links_of([line], "wiki/x/page.md")] == paths


def test_links_of_code_are_none() -> None:
    """What stands between fences is no link, what follows is; lines are counted from 1."""
    lines = ["```", "[a](a.md)", "```", "[b](b.md)"]
    assert [(link.line, link.target) for link in links_of(lines, "x.md")] == [(4, "b.md")]


def page(id: str, title: str) -> Named:
    """A page."""
    return Named(id=id, title=title, path=f"wiki/{id}.md")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("The mail queue is in PostgreSQL.", ["queue"]),
        ("Mail-Queue workers", ["queue"]),
        ("the mail queues", []),  # another word
        ("exports are kept for a month", ["export"]),
        ("Our retention policy holds", ["policy"]),
        ("the old policy", []),  # one word of a name says nothing
        ("nothing of ours", []),
        ("the outbox table", []),  # two pages are called so
    ],
)
def test_names(text: str, ids: list[str]) -> None:
    """The longest name of a page counts, whole words only; a name of two pages leads to none."""
    names = Names()
    names.add("Mail queue", page("queue", "Mail queue"), subject=False)
    names.add("Exports", page("export", "Exports"), subject=True)
    names.add("Retention policy", page("policy", "Retention policy"), subject=False)
    names.add("Policy", page("plain", "Policy"), subject=False)  # one word, and not what the page is about
    names.add("This is a whole sentence about nothing", page("long", "A sentence"), subject=True)
    for id in ("one", "two"):
        names.add("Outbox table", page(id, "Outbox table"), subject=True)
    assert [one.id for one in names.find([text])] == ids
    assert names.known("outbox TABLE") and not names.known("policy")


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("Why did we leave Redis?", "a decision record (ADR) that says why"),
        ("How do I restore the backup?", "a runbook with the steps"),
        ("What failed last night?", "an incident report with cause and fix"),
        ("Who owns the billing service?", "a README or a note that names who it is"),
        ("how long are exports kept?", "the design document or configuration that sets the value"),
        ("When is the launch?", "the minutes or the plan that give the date"),
        ("Colour of the logo", "a document that says it"),
    ],
)
def test_the_source_that_would_help(question: str, source: str) -> None:
    """A question's words tell what sort of source answers it."""
    assert helping(question) == source
