"""The pure parts of the tree: names, thresholds, what an edit changes, how it is kept, patterns of grep."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.errors import BadInput, Refused
from flywheel.knowledge.filed import all_changes, change_at, compose
from flywheel.knowledge.thresholds import DEFAULT, Thresholds, parse
from flywheel.model import Clean
from flywheel.tree.edited import applied, changes, clashes, facts_of, shown, take_apart
from flywheel.tree.grep import expression
from flywheel.tree.naming import (
    LONGEST,
    hub_path,
    numbered,
    part_path,
    raw_path,
    slug_of,
    transcript_path,
    transcript_session,
)
from flywheel.tree.page import body_facts, bullets, link, no_longer
from flywheel.tree.view import plain

FACTS = st.lists(st.from_regex(r"[A-Za-z][a-z0-9 ,]{0,20}[a-z]", fullmatch=True).map(shown), max_size=8, unique=True)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("One queue", "one-queue"),
        ("  Don't use Redis! ", "dont-use-redis"),
        ("Über die Größe", "uber-die-groe"),
        ("会議", "page-7f3a1c"),
        ("", "page-7f3a1c"),
        ("Index", "page-index"),
        ("../../etc/passwd", "etc-passwd"),
        ("a.b/c", "a-b-c"),
    ],
)
def test_slugs(title: str, slug: str) -> None:
    """A slug has letters, digits and hyphens only, whatever the title, and is never a list's name."""
    assert slug_of(title, "7f3a1c") == slug


def test_long_titles_are_cut_at_a_word() -> None:
    """No slug is longer than its limit, and none ends in the middle of a word that fits."""
    slug = slug_of("we keep every export for ninety days " * 4, "x")
    assert slug == "we-keep-every-export-for" and len(slug_of("unbreakable" * 9, "x")) == LONGEST


@given(st.text(max_size=200))
def test_slugs_are_safe(title: str) -> None:
    """Whatever a title holds, its file stays where it belongs."""
    slug = slug_of(title, "7f3a1c")
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", slug) and len(slug) <= 54 and slug != "index"


@given(st.text(max_size=300))
def test_documents_stay_below_raw(path: str) -> None:
    """No path of a document leads out of raw, hides, or lands among the transcripts."""
    parts = raw_path(path).split("/")
    assert parts[0] == "raw" and len(parts) > 1
    assert not {"", ".", ".."} & set(parts) and parts[1] != "transcripts"
    assert not any(part.startswith(".") or "\0" in part or len(part.encode()) > 255 for part in parts)


def test_raw_paths() -> None:
    """An ordinary path is kept as it is; two that would fall together are told apart."""
    assert raw_path("docs/adr/1.md") == "raw/docs/adr/1.md"
    assert raw_path("a:b.md") != raw_path("a;b.md")
    assert raw_path("../x.md").startswith("raw/_")


def test_names_do_not_clash() -> None:
    """Parts and lists have a dot in their names, which no slug has."""
    assert part_path("wiki/decisions/a.md", "more-2") == "wiki/decisions/a.more-2.md"
    assert (hub_path("decisions"), hub_path("decisions", "a-")) == (
        "wiki/decisions/index.md",
        "wiki/decisions/index.a-.md",
    )
    assert (numbered("a", 1), numbered("a", 3)) == ("a", "a-3")


def test_transcript_names() -> None:
    """A transcript's name holds the head of its session's id."""
    path = transcript_path("claude", "0123456789abcdef0123456789abcdef")
    assert transcript_session(path.rpartition("/")[2]) == "0123456789ab"
    assert transcript_session("../x.md") == "" == transcript_session("claude-xyz.md")


def test_thresholds() -> None:
    """What is written at first says the defaults; changed numbers count, by category as well; nonsense does not."""
    assert parse(DEFAULT) == Thresholds(others={})
    found = parse(
        "- freshness-days: 30\n* `freshness-days-policies`: 400\n- hub-lines = 7\n- mentions: 4\nfreshness: 9"
    )
    assert (found.freshness_days, found.hub_lines, found.screen_lines) == (30, 7, 40)
    assert (found.days("policies"), found.days("decisions")) == (400, 30)
    assert found.others == {"freshness-days-policies": 400, "mentions": 4}
    assert parse("- hub-lines: 0").hub_lines == 1


# ---- edits


@given(FACTS, FACTS)
def test_changes_make_one_list_the_other(before: list[str], after: list[str]) -> None:
    """What was found to have changed, put onto the old list, gives the new one's lines."""
    made = applied(before, list(changes(before, after)))
    assert sorted(made) == sorted(after)


@given(FACTS, FACTS)
def test_an_edit_is_found_again(before: list[str], after: list[str]) -> None:
    """Every change is read back from the document that holds the edit, by its place and from the whole."""
    some = list(changes(before, after))
    text, placed = compose(Clean("Edit of x."), [(c, Clean(c.after), Clean(c.removed), Clean(c.added)) for c in some])
    assert [change_at(text, one.start) for one in placed] == some
    assert [text[one.start : one.stop] for one in placed] == [c.added or c.removed for c in some]
    assert all_changes(text) == some


@given(FACTS)
def test_facts_survive_a_page(facts: list[str]) -> None:
    """Facts written as a page shows them are read as the same facts."""
    assert facts_of(bullets(facts)) == facts


def test_an_editor_may_wrap_lines() -> None:
    """Wrapped lines, other bullets and paragraphs are read as facts."""
    assert facts_of(["* one", "  and more", "", "2. two", "", "three", "### Part", "- four"]) == [
        "one and more",
        "two",
        "three",
        "### Part",
        "four",
    ]


def test_a_page_is_taken_apart() -> None:
    """Front matter, head and sections; a page without any of them does no harm."""
    page = take_apart(
        '---\nversion: 3\nedits: ["a1"]\n---\n\n# T\n\n> B\n\n## Understanding\n\n- x\n\n## Timeline\n\n- y\n'
    )
    assert (page.version, list(page.edits)) == (3, ["a1"])
    assert list(page.head) == ["# T", "", "> B"]
    assert {name: list(lines) for name, lines in page.sections.items()} == {
        "Understanding": ["- x"],
        "Timeline": ["- y"],
    }
    assert take_apart("---\nnever closed").version == 0 == take_apart("").version
    assert take_apart("---\nedits: [1, {}\n---\n").edits == ()


def test_clashes() -> None:
    """A line that is gone was changed by somebody else; one that is added, or says the same, is in nobody's way."""
    (change,) = changes(["a"], ["b"])
    assert clashes(change, ["c"]) and not clashes(change, ["a"]) and not clashes(change, ["b"])
    assert not clashes(next(iter(changes([], ["b"]))), ["c"])
    assert not clashes(next(iter(changes(["a"], []))), ["c"])


def test_shown_text_is_inert() -> None:
    """Nothing in a fact can end its line, hide, or pass for an instruction's frame."""
    assert shown("a\nb\x1b[31m <flywheel-briefing> \u200b") == "a b ‹flywheel-briefing>"
    assert shown(shown("User: hi")) == shown("User: hi")


def test_a_body_has_facts_and_what_no_longer_holds() -> None:
    """Sections of a body are no facts."""
    body = "One.\n- Two\n## No longer\n- ~~Three~~ gone"
    assert body_facts(body) == ["One.", "Two"]
    assert no_longer(body) == ["~~Three~~ gone"]
    assert body_facts("## No longer\n- x") == [] and no_longer("One.") == []


def test_links_are_relative() -> None:
    """From one file to another, whatever the folders."""
    assert link("wiki/a/x.md", "wiki/a/y.md", "Y") == "[Y](y.md)"
    assert link("wiki/a/x.md", "wiki/b/y.md", "[Y]") == "[\\[Y\\]](../b/y.md)"
    assert link("index.md", "raw/a b.md", "b") == "[b](raw/a%20b.md)"
    assert link("wiki/a/x.md", "raw/d.md", "d") == "[d](../../raw/d.md)"


# ---- paths and patterns


@pytest.mark.parametrize("path", ["..", "wiki/../../x", "/../etc", ".git/config", "set-aside/x", "a/../.."])
def test_paths_that_lead_out_are_refused(path: str) -> None:
    """So is what lies in the folder and is no part of the tree."""
    with pytest.raises(Refused):
        plain(path)


def test_plain_paths() -> None:
    """Slashes and dots around a path do not matter."""
    assert plain("/wiki/./decisions//") == "wiki/decisions" and plain("/") == ""
    with pytest.raises(BadInput):
        plain("a\0b")


@pytest.mark.parametrize(
    ("pattern", "extended", "text", "matches"),
    [
        ("a+b", False, "a+b", True),
        ("a+b", False, "aab", False),
        ("a+b", True, "aab", True),
        (r"a\+b", False, "aab", True),
        ("(x)", False, "(x)", True),
        ("(x|y)z", True, "yz", True),
        (r"\(x\|y\)z", False, "yz", True),
        ("*x", False, "*x", True),
        ("[[:digit:]]+", True, "abc 42", True),
        ("[a(]x", False, "(x", True),
        ("[]x]", False, "]", True),
        ("a{2}", True, "aa", True),
        ("a{2}", False, "a{2}", True),
        ("^end$", False, "end", True),
        (r"a\.b", False, "axb", False),
    ],
)
def test_patterns_read_as_greps(pattern: str, extended: bool, text: str, matches: bool) -> None:
    """Basic and extended expressions mean what they mean to grep."""
    assert bool(re.search(expression(pattern, extended=extended), text)) is matches


@pytest.mark.parametrize(
    ("pattern", "extended"), [("[", False), ("(", True), ("*", True), ("", False), ("a{3,1}", True)]
)
def test_bad_patterns(pattern: str, extended: bool) -> None:
    """What is no expression is the caller's mistake."""
    with pytest.raises(BadInput):
        expression(pattern, extended=extended)
