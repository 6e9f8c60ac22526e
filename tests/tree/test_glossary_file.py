"""``glossary.md``: drawn from the store, linked from the index, and an edit of it waits for a person."""

from __future__ import annotations

from tests.tree.growing import PROJECT, Grove

from flywheel.knowledge.deciding import Act
from flywheel.knowledge.glossary import keeping
from flywheel.model import Clean, Micros, Status, Term
from flywheel.tree import record

FILE = "glossary.md"


def put(grove: Grove, name: str, **given: object) -> None:
    """A person words a term; the tree follows."""
    grove.at += 1_000_000
    act = Act(actor=Clean("user:kim via terminal"), now=Micros(grove.at))
    with grove.db.write() as tx:
        keeping.set_term(tx, [PROJECT], Clean(name), given, act)
    grove.follow()
    grove.commit()


def term(grove: Grove, name: str) -> Term:
    """The term as it is now."""
    with grove.db.read() as tx:
        return keeping.the_term(tx, [PROJECT], name)


def edit(grove: Grove, old: str, new: str) -> None:
    """Somebody edits the file, and the watcher hints."""
    path = grove.root / FILE
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    grove.at += 1_000_000
    grove.due(record.PATH, FILE)
    grove.render()


def test_the_file_follows_the_terms(any_grove: Grove) -> None:
    """It comes with the first term, changes with each, and the index leads to it; without terms there is none."""
    any_grove.page("0190aaaa-0000-7000-8000-0000000000a1", "One queue", "We keep one queue.")
    any_grove.commit()
    assert not (any_grove.root / FILE).exists() and FILE not in (any_grove.root / "index.md").read_text("utf-8")
    put(any_grove, "till", synonyms=("POS",))
    first = (any_grove.root / FILE).read_text("utf-8")
    assert "## till" in first and "[glossary.md](glossary.md)" in (any_grove.root / "index.md").read_text("utf-8")
    put(any_grove, "till", meaning=Clean("Where one pays."))
    assert "Where one pays." in (any_grove.root / FILE).read_text("utf-8")
    again = (any_grove.root / FILE).read_bytes()
    (any_grove.root / FILE).unlink()
    any_grove.due(record.ALL, "")
    any_grove.render()
    assert (any_grove.root / FILE).read_bytes() == again
    with any_grove.db.write() as tx:
        keeping.remove(tx, term(any_grove, "till"), Act(actor=Clean("user:kim via terminal"), now=Micros(any_grove.at)))
    any_grove.follow()
    any_grove.render()
    assert not (any_grove.root / FILE).exists()


def test_an_edit_waits_and_the_file_is_put_back(any_grove: Grove) -> None:
    """A changed line waits beside the term, a new term is a candidate; the file shows both and stays as it is."""
    put(any_grove, "till", synonyms=("POS",))
    edit(any_grove, "- synonyms: POS", "- synonyms: POS, counter\n\n## Mill\n\nThe nightly export.")
    assert term(any_grove, "till").synonyms == ("POS",)
    assert keeping.waits(term(any_grove, "till")) == ["synonyms: +counter"]
    assert term(any_grove, "till").pending[keeping.ACTOR] == "unknown via editor"
    mill = term(any_grove, "Mill")
    assert (mill.status, mill.meaning) == (Status.CANDIDATE, "The nightly export.")
    text = (any_grove.root / FILE).read_text("utf-8")
    assert "- synonyms: POS\n> waits for review: synonyms: +counter" in text and "> proposed [fw:" in text
    assert "edited glossary.md" in (any_grove.root / "log.md").read_text("utf-8")


def test_a_term_cut_out_is_asked_about_and_strange_lines_are_kept_aside(any_grove: Grove) -> None:
    """Nothing is lost: not the term, nor what was written."""
    put(any_grove, "till", synonyms=("POS",))
    put(any_grove, "zebra", synonyms=("stripes",))
    edit(any_grove, "## zebra\n\n- synonyms: stripes", "- colour: red")
    assert keeping.waits(term(any_grove, "zebra")) == ["to be taken out"]
    aside = [path.read_text("utf-8") for path in (any_grove.root / "set-aside").iterdir()]
    assert len(aside) == 1 and "- colour: red" in aside[0]


def test_secrets_in_an_edit_are_redacted(any_grove: Grove) -> None:
    """What waits was redacted like any text."""
    put(any_grove, "till", synonyms=("POS",))
    edit(any_grove, "- synonyms: POS", "- synonyms: POS\n- gotcha: password=hunter2hunter2 opens it")
    assert "hunter2" not in str(term(any_grove, "till").pending)
