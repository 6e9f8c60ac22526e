"""The glossary as a page: the same terms give the same bytes, and reading it back gives what was drawn."""

from __future__ import annotations

from flywheel.knowledge.glossary.page import asked, draw, read
from flywheel.model import Clean, Micros, ProjectId, Status, Term


def made(name: str, **given: object) -> Term:
    """A confirmed term."""
    fields = {"status": Status.CONFIRMED, "created_at": Micros(1), "updated_at": Micros(1)} | given
    return Term(id=name * 4, project_id=ProjectId("p"), name=Clean(name), **fields)  # type: ignore[arg-type]


TILL = made(
    "till",
    meaning=Clean("Where one pays."),
    synonyms=("POS", "point of sale"),
    targets=("src/pos.py",),
    relations=("part of: checkout",),
    related=("mill",),
    gotchas=("Not a shop.", "# not a heading, either"),
)
MILL = made("mill", status=Status.CANDIDATE, quote=Clean("we call it the mill"))
GONE = made("gone", status=Status.REJECTED)


def test_a_page_is_drawn_and_read_back() -> None:
    """Every field comes back; what was taken out is left away; what waits is said in lines that are not read."""
    text = draw("shop", [MILL, TILL, GONE])
    assert text == draw("shop", [MILL, TILL]) and "gone" not in text
    assert "> proposed [fw:millmi], from: “we call it the mill”" in text
    found = read(text)
    assert found.unread == 0 and list(found.terms) == ["mill", "till"]
    assert found.terms["till"] == (
        "till",
        {
            "meaning": "Where one pays.",
            "synonyms": ("POS", "point of sale"),
            "targets": ("src/pos.py",),
            "related": ("mill",),
            "relations": ("part of: checkout",),
            "gotchas": ("Not a shop.", "\\# not a heading, either"),
        },
    )
    assert draw("shop", [GONE]) == ""


def test_what_an_edit_asks_for() -> None:
    """A term worded otherwise, a new one, one that goes, and lines that say nothing."""
    before = draw("shop", [MILL, TILL])
    edited = before.replace("POS, point of sale", "POS, counter").replace("## mill", "## Quern\n\nA stone.\n\n### odd")
    found = asked(edited, before)
    assert [name for name, _ in found.worded] == ["Quern", "till"] and found.gone == ["mill"]
    assert found.worded[0][1] == {"meaning": "A stone."} and found.unread == 1
    assert found.worded[1][1]["synonyms"] == ("POS", "counter")
    assert asked(before, before).worded == [] and asked(before, before).gone == []


def test_text_changes_nothing_around_it() -> None:
    """A name or a meaning with marks of a heading or a list stays on its line."""
    text = draw("shop", [made("till", meaning=Clean("# Ha\n## mill\n- synonyms: x"))])
    assert list(read(text).terms) == ["till"] and "\\# Ha ## mill - synonyms: x" in text
