"""What people and agents do to the files: edits become candidates, the rest is put back, and nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.tree.growing import NOW, Grove, write

from flywheel.errors import BadInput
from flywheel.knowledge import states
from flywheel.knowledge.changing import changed
from flywheel.knowledge.parts import EDIT
from flywheel.model import Claim, Clean, Document, DocumentId, Micros, Review, Role, Status, digest
from flywheel.store.mapper import find, get, insert
from flywheel.text.compose import fixed
from flywheel.tree import record
from flywheel.tree.disk import Disk, Raced, sha

A, B = (f"0190aaaa-0000-7000-8000-0000000000{n}" for n in ("a1", "b2"))
PAGE = "wiki/decisions/one-queue.md"


@pytest.fixture
def edited(any_grove: Grove) -> Grove:
    """A page with two facts, rendered."""
    any_grove.page(A, "One queue", "We keep one queue.", "Mail leaves at noon.")
    any_grove.commit()
    return any_grove


def look(grove: Grove, *paths: str) -> None:
    """What the watcher's hint comes to."""
    grove.due(record.PATH, *(paths or (PAGE,)))
    grove.render()


def waiting(grove: Grove) -> list[Claim]:
    """The edits that wait for review."""
    return [claim for claim in grove.claims(A, Status.CANDIDATE) if claim.attribute == EDIT]


def decide(grove: Grove, claim: Claim, status: Status) -> None:
    """A person decides about an edit."""
    with grove.db.write() as tx:
        now = Micros(grove.at)
        current = get(tx, Claim, id=claim.id)
        assert current is not None
        states.move(tx, current, status, actor=Clean("user:kim via terminal"), reason=Clean("read"), now=now)
        changed(tx, claim.entry_id, now=now, reason=fixed("reviewed"), actor=Clean("user:kim via terminal"))


def aside(grove: Grove) -> list[str]:
    """What was put back, as it was written."""
    folder = grove.root / "set-aside"
    return [path.read_text("utf-8") for path in sorted(folder.iterdir())] if folder.is_dir() else []


def test_an_edit_becomes_a_candidate(edited: Grove) -> None:
    """A changed fact waits for review with the edit as its evidence, by an unknown author; the page shows it so."""
    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues.")
    look(edited)
    (claim,) = waiting(edited)
    assert (claim.text, claim.role, claim.rank) == ("We keep two queues.", Role.SYSTEM, 0)
    with edited.db.read() as tx:
        (document,) = find(tx, Document, "WHERE kind = 'edit'")
        (review,) = find(tx, Review, "WHERE target_id = :id", id=claim.id)
        quote = tx.all("SELECT quote, start, stop FROM citation WHERE claim_id = :id", id=claim.id)[0]
    assert document.text[quote[1] : quote[2]] == quote[0]
    assert "- We keep one queue." in document.text and "+ We keep two queues." in document.text
    assert (review.actor, review.new_status) == ("unknown via editor", "candidate")
    page = edited.text(PAGE)
    assert "- We keep two queues." in page and "> **Edited, not reviewed.**" in page and "edits: [" in page
    assert "We keep one queue." in edited.entry(A).body and edited.entry(A).status is Status.CANDIDATE
    assert any("edited wiki/decisions/one-queue.md" in line for line in edited.log())


def test_an_edit_is_never_written_over(edited: Grove) -> None:
    """What was written stays on the page while the store goes on, until somebody decides."""
    edited.edit(PAGE, "- Mail leaves at noon.", "- Exports run nightly.\n- Mail leaves at noon.")
    edited.claim(A, "Workers restart themselves.", at=NOW + 1_000_000)  # rendered without any hint
    edited.render()
    page = edited.text(PAGE)
    assert "- Exports run nightly." in page and "Workers restart themselves." in page
    assert len(waiting(edited)) == 1
    decide(edited, waiting(edited)[0], Status.REJECTED)
    edited.render()
    assert "- Exports" not in edited.text(PAGE) and "Edited, not reviewed" not in edited.text(PAGE)


def test_a_confirmed_edit_takes_effect(edited: Grove) -> None:
    """Once a person confirms it, the line is the page's, cites its claim, and what it replaced no longer holds."""
    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues.")
    look(edited)
    claim = waiting(edited)[0]
    decide(edited, claim, Status.CONFIRMED)
    edited.render()
    page = edited.text(PAGE)
    assert f"- We keep two queues. [fw:{claim.id[:6]}]" in page
    assert "## No longer\n\n- ~~We keep one queue.~~" in page
    assert "Edited, not reviewed" not in page and not waiting(edited)
    old = next(one for one in edited.claims(A) if one.text == "We keep one queue.")
    assert old.status is Status.SUPERSEDED


def test_a_value_that_was_edited_is_the_attributes(any_grove: Grove) -> None:
    """A bullet with a value, edited and confirmed, gives its attribute the new value in the same scope."""
    entry = any_grove.page(A, "One queue", "We keep one queue.")
    with any_grove.db.write() as tx:
        claim = any_grove.say(tx, entry, "Exports are kept for 30 days.")
        tx.run(
            "UPDATE claim SET subject = 'export', attribute = 'retention', value = '30 days', scope = 'plan:pro'"
            " WHERE id = :id",
            id=claim.id,
        )
        changed(tx, A, now=NOW, reason=fixed("said"), actor=states.RULES)
    any_grove.render()
    any_grove.edit(PAGE, "Retention (plan pro): 30 days", "Retention (plan pro): 60 days")
    look(any_grove)
    assert "30 days" in any_grove.entry(A).body and "60 days" not in any_grove.entry(A).body
    decide(any_grove, waiting(any_grove)[0], Status.CONFIRMED)
    found = next(one for one in any_grove.claims(A, Status.CONFIRMED))
    assert (found.attribute, found.value, found.scope, found.subject) == ("retention", "60 days", "plan:pro", "export")
    assert "Retention (plan pro): 60 days" in any_grove.entry(A).body
    assert "~~Retention (plan pro): 30 days~~" in any_grove.entry(A).body


def test_a_line_taken_out(edited: Grove) -> None:
    """A missing line is a candidate, too; confirmed, its claim ends."""
    text = edited.text(PAGE)
    line = next(line for line in text.splitlines() if line.startswith("- Mail leaves"))
    edited.edit(PAGE, f"{line}\n", "")
    look(edited)
    (claim,) = waiting(edited)
    assert claim.text == "Taken out: Mail leaves at noon."
    assert "\n- Mail leaves" not in edited.text(PAGE) and "Mail leaves at noon." in edited.entry(A).body
    decide(edited, claim, Status.CONFIRMED)
    edited.render()
    understanding = edited.text(PAGE).partition("## Timeline")[0].partition("## No longer")[0]
    assert "Mail leaves" not in understanding
    edited.claim(A, "Caches stay local.", at=NOW + 2)
    assert "Mail leaves" not in edited.entry(A).body.partition("## No longer")[0]


def test_editing_on_and_back(edited: Grove) -> None:
    """A second edit of a line that waits takes its place; putting it back takes it out of the queue."""
    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues.")
    look(edited)
    edited.edit(PAGE, "- We keep two queues.", "- We keep three queues.")
    look(edited)
    assert [claim.text for claim in waiting(edited)] == ["We keep three queues."]
    fact = next(line for line in edited.entry(A).body.splitlines() if line.startswith("We keep one"))
    shown = next(line for line in edited.text(PAGE).splitlines() if "three queues" in line and line.startswith("- "))
    edited.edit(PAGE, shown, f"- {fact}")
    look(edited)
    assert not waiting(edited) and "Edited, not reviewed" not in edited.text(PAGE)


def test_saving_again_changes_nothing(edited: Grove) -> None:
    """The same edit twice is one candidate; white space and wrapping are none."""
    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues.")
    mine = edited.text(PAGE)
    look(edited)
    write(edited.root / PAGE, mine)
    look(edited)
    assert len(waiting(edited)) == 1 and "Conflict" not in edited.text(PAGE) and not aside(edited)
    write(edited.root / PAGE, edited.text(PAGE).replace("\n## Timeline", "\n\n\n## Timeline"))
    look(edited)
    assert len(waiting(edited)) == 1 and not aside(edited)


def test_two_writers_at_once(edited: Grove) -> None:
    """Both had the same page before them: the second one's change of the same line is a conflict, with its diff."""
    before = edited.text(PAGE)
    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues.")
    look(edited)
    write(
        edited.root / PAGE,
        before.replace("- We keep one queue.", "- We keep no queue.").replace(
            "- Mail leaves at noon", "- Mail leaves at midnight"
        ),
    )
    look(edited)
    page = edited.text(PAGE)
    assert "> **Conflict.**" in page and "## Conflicting edit" in page
    diff = page.partition("```diff\n")[2].partition("```")[0]
    assert diff.splitlines()[0].startswith("-We keep one queue.") and "+We keep no queue." in diff
    assert "\n- We keep two queues." in page and "\n- Mail leaves at midnight." in page
    assert sorted(claim.text for claim in waiting(edited)) == [
        "Mail leaves at midnight.",
        "We keep no queue.",
        "We keep two queues.",
    ]
    assert any(line.partition(" ")[2][6:].startswith("conflict") for line in edited.log())
    for claim in waiting(edited):
        decide(edited, claim, Status.REJECTED)
    edited.render()
    assert "Conflict" not in edited.text(PAGE)


def test_an_older_version_is_compared_with_itself(edited: Grove) -> None:
    """Who had an older version before them changes only what they changed, not what came since."""
    before = edited.text(PAGE)
    edited.claim(A, "Workers restart themselves.", at=NOW + 1_000_000)
    edited.render()
    assert edited.entry(A).version == 2 and "version: 2" in edited.text(PAGE)
    write(edited.root / PAGE, before.replace("- Mail leaves at noon", "- Mail leaves at midnight"))
    look(edited)
    assert [claim.text for claim in waiting(edited)] == ["Mail leaves at midnight."]
    assert "- Workers restart themselves." in edited.text(PAGE)


def test_a_timeline_is_put_back(edited: Grove) -> None:
    """A changed timeline is refused and restored and the log says so; what was written is kept; facts still count."""
    edited.edit(PAGE, "said by the user", "said by the king")
    edited.edit(PAGE, "- Mail leaves at noon.", "- Mail leaves at midnight.")
    look(edited)
    page = edited.text(PAGE)
    assert "said by the king" not in page and "- Mail leaves at midnight." in page
    assert len(waiting(edited)) == 1
    assert "said by the king" in aside(edited)[0]
    assert any("refused" in line and "Timeline" in line for line in edited.log())


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("status: candidate", "status: confirmed", "front matter"),
        ("> **Unconfirmed.**", "> **Confirmed.**", "what stands above the sections"),
        ("## Sources", "## Origins", "Sources"),
    ],
)
def test_nobody_confirms_by_editing(edited: Grove, old: str, new: str, what: str) -> None:
    """State, banners and sources are code's: edits of them do nothing and are reported."""
    edited.edit(PAGE, old, new)
    look(edited)
    assert old in edited.text(PAGE) and edited.entry(A).status is Status.CANDIDATE
    assert any("refused" in line and what in line for line in edited.log())


@pytest.mark.parametrize("text", ["", "no page at all\n", "\x00\xff"])
def test_a_ruined_page_comes_back(edited: Grove, text: str) -> None:
    """Whatever was made of it; what was written is kept unless it is nothing."""
    before = edited.text(PAGE)
    (edited.root / PAGE).write_bytes(text.encode("latin-1"))
    look(edited)
    assert edited.text(PAGE) == before and not waiting(edited)
    assert len(list((edited.root / "set-aside").glob("*")) if text else [1]) == 1


def test_deleted_files_come_back(edited: Grove) -> None:
    """Pages, documents, lists, rules and log."""
    edited.document("docs/a.md", "x\n")
    edited.render()
    before = edited.files()
    for path in (PAGE, "raw/docs/a.md", "index.md", "log.md", "AGENTS.md"):
        (edited.root / path).unlink()
    look(edited, PAGE, "raw/docs/a.md", "index.md", "log.md", "AGENTS.md")
    assert edited.files() == before
    assert any("added wiki/decisions/one-queue.md" in line for line in edited.log())
    for path in ("wiki", "raw"):
        for file in sorted((edited.root / path).rglob("*.md")):
            file.unlink()
    edited.due(record.SWEEP)
    edited.render()
    assert edited.files() == before


def test_evidence_and_lists_are_put_back(edited: Grove) -> None:
    """What lies below raw, the index and the log are restored and reported."""
    edited.document("docs/a.md", "x\n")
    edited.render()
    before = edited.files()
    for path in ("raw/docs/a.md", "index.md", "log.md"):
        write(edited.root / path, "mine\n")
    edited.due(record.SWEEP)
    edited.render()
    assert edited.files() == before and aside(edited) == ["mine\n"] * 3
    refused = [line for line in edited.log() if " refused " in line]
    assert [line.split()[3].rstrip(":") for line in refused] == ["index.md", "raw/docs/a.md", "log.md"]


def test_rules_are_a_persons(edited: Grove) -> None:
    """AGENTS.md is written once; an edit stays and counts."""
    edited.edit("AGENTS.md", "# Rules of this memory", "# Our rules")
    look(edited, "AGENTS.md")
    edited.due(record.ALL)
    edited.render()
    assert edited.text("AGENTS.md").startswith("# Our rules")
    assert any(line.endswith("edited AGENTS.md") for line in edited.log())


def test_links_lead_nowhere(edited: Grove, tmp_path: Path) -> None:
    """A page that became a link is restored, and what it led to is not touched."""
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    (edited.root / PAGE).unlink()
    (edited.root / PAGE).symlink_to(outside)
    look(edited)
    assert outside.read_text() == "theirs" and not (edited.root / PAGE).is_symlink()
    assert "We keep one queue." in edited.text(PAGE)


def test_a_save_in_the_moment_of_writing_is_kept(tmp_path: Path) -> None:
    """Who saves between our look and our write finds their text there again."""
    disk = Disk(tmp_path)
    disk.write("a.md", b"ours", None)
    (tmp_path / "a.md").write_text("theirs")
    with pytest.raises(Raced):
        disk.write("a.md", b"new", sha(b"ours"))
    with pytest.raises(Raced):
        disk.write("a.md", b"new", None)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.md", "theirs")]


def take_in(grove: Grove, name: str, data: bytes) -> str:
    """Stands for the verb that takes documents in: JSON is refused, HTML becomes its text."""
    if name.endswith(".json"):
        raise BadInput("this JSON is no talk")
    text = data.decode().removeprefix("<p>").removesuffix("</p>")
    document = Document(
        id=DocumentId(digest(name + text)[:32]),
        project_id=grove.project,
        path=Clean(name),
        title=Clean(name),
        kind="note",
        text=Clean(text),
        created_at=NOW,
        sha256=digest(text),
    )
    with grove.db.write() as tx:
        insert(tx, document)
    return document.id


def test_a_merge_that_is_not_finished_is_no_edit(edited: Grove) -> None:
    """Conflict marks are nobody's facts: the page is put back, what was written is kept, and nothing waits."""
    before = edited.text(PAGE)
    marks = "<<<<<<< HEAD\n- We keep three queues.\n=======\n- We keep two queues.\n>>>>>>> theirs\n"
    edited.edit(PAGE, "\n- We keep one queue.", f"\n{marks}- We keep one queue.")
    look(edited)
    assert edited.text(PAGE) == before and waiting(edited) == []
    assert [marks in text for text in aside(edited)] == [True]
    assert any(f"refused {PAGE}: a merge is not finished in it" in line for line in edited.log())
    edited.edit(PAGE, "- We keep one queue.", "- We write <<<<<<< before a conflict.")
    look(edited)
    assert len(waiting(edited)) == 1


def test_what_is_dropped_and_not_read_is_told_once(edited: Grove) -> None:
    """A file that is too large and one that is a link: left where they are, with the reason in the log."""
    edited.ingest = lambda project, name, data, at: pytest.fail("read")
    folder = edited.root / "raw"
    with (folder / "huge.txt").open("wb") as file:
        file.truncate((8 << 20) + 1)
    (folder / "away.txt").symlink_to("/etc/hostname")
    for _ in range(2):
        look(edited, "raw/huge.txt", "raw/away.txt")
        edited.due(record.SWEEP)
        edited.render()
    told = [line.split(" ", 2)[2] for line in edited.log() if " left " in line]
    assert sorted(told) == [
        "left raw/away.txt: it is a link or no plain file; put the file itself there",
        "left raw/huge.txt: it is larger than 8 MB; add its parts",
    ]
    assert (folder / "huge.txt").stat().st_size == (8 << 20) + 1 and (folder / "away.txt").is_symlink()


@pytest.mark.parametrize("place", [PAGE, "index.md", "raw/docs/a.md"])
def test_a_folder_in_a_files_place_is_put_aside(edited: Grove, place: str) -> None:
    """With what lies in it; the file is back, by the watcher's hint and by a sweep alike."""
    edited.document("docs/a.md", "Exports are kept.\n")
    edited.render()
    before = edited.text(place)
    for kind, ids in ((record.PATH, (place,)), (record.SWEEP, ())):
        (edited.root / place).unlink()
        (edited.root / place).mkdir()
        write(edited.root / place / "mine.txt", kind)
        edited.at += 1_000_000
        edited.due(kind, *ids)
        edited.render()
        assert edited.text(place) == before
    kept = sorted(path.read_text() for path in (edited.root / "set-aside").rglob("mine.txt"))
    assert kept == sorted([record.PATH, record.SWEEP])


def test_dropped_files_are_taken_in(edited: Grove) -> None:
    """A new file below raw is evidence from then on; one that is text of another sort is replaced by its text."""
    edited.ingest = lambda project, name, data, at: take_in(edited, name, data)
    write(edited.root / "raw/kick-off.md", "We start in May.\n")
    write(edited.root / "raw/mail/page.html", "<p>Hello</p>")
    write(edited.root / "raw/odd.json", "{}")
    write(edited.root / "raw/picture.png", "png")
    write(edited.root / "raw/.hidden.md", "x")
    look(edited, "raw/kick-off.md")
    edited.due(record.SWEEP)
    edited.render()
    edited.render()
    assert edited.text("raw/kick-off.md") == "We start in May.\n" and edited.text("raw/mail/page.html") == "Hello"
    assert aside(edited) == ["<p>Hello</p>"]
    assert edited.text("raw/odd.json") == "{}" and edited.text("raw/picture.png") == "png"
    told = "\n".join(edited.log())
    assert "taken in raw/kick-off.md" in told and told.count("left raw/odd.json: this JSON is no talk") == 1
    assert "picture" not in told
    write(edited.root / "raw/kick-off.md", "We start in June.\n")
    look(edited, "raw/kick-off.md")
    assert edited.text("raw/kick-off.md") == "We start in May.\n"
    assert "[kick-off.md](raw/kick-off.md)" in edited.text("index.md")


def test_an_edit_loses_its_secrets(edited: Grove) -> None:
    """A secret that somebody pastes into a page is neither stored nor rendered."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    edited.edit(PAGE, "- Mail leaves at noon.", f"- The token is {secret}.\n- Mail leaves at noon.")
    look(edited)
    assert secret not in waiting(edited)[0].text and secret not in edited.text(PAGE)
    with edited.db.read() as tx:
        assert not tx.all("SELECT 1 FROM document WHERE text LIKE :t", t=f"%{secret}%")


def test_an_edit_is_forgotten_with_its_page(edited: Grove) -> None:
    """Forgetting an entry takes its edits with it; forgetting what a line quotes takes the edits that repeat it."""
    from flywheel.store.forget import forget

    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues, not one.")
    look(edited)
    with edited.db.write() as tx:
        message = tx.all("SELECT message_id FROM citation WHERE quote = 'We keep one queue.'")[0][0]
        forget(tx, "message", message, Clean(""), NOW)
    with edited.db.read() as tx:
        assert not tx.all("SELECT 1 FROM document WHERE kind = 'edit'")
        assert not tx.all("SELECT 1 FROM claim WHERE attribute = 'edit'")
        assert [claim.text for claim in edited.claims(A)] == ["Mail leaves at noon."]


def test_fresh_saves_wait(edited: Grove) -> None:
    """A file that is being saved is read once nobody has written to it for a moment."""
    path = edited.root / PAGE
    text = path.read_text()
    path.write_text(text.replace("- Mail leaves at noon", "- Mail leaves at midnight"))
    os.utime(path)
    look(edited)
    assert [claim.text for claim in waiting(edited)] == ["Mail leaves at midnight."]


def test_an_edit_of_a_page_that_goes_is_kept(edited: Grove) -> None:
    """Who edits a page in the moment in which it is rejected finds their text set aside."""
    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues.")
    edited.change(A, status="rejected")
    edited.render()
    assert not (edited.root / PAGE).exists() and "- We keep two queues." in aside(edited)[0]


def test_an_edit_answers_nothing(edited: Grove) -> None:
    """Neither "why" nor a rival statement is made of a line that nobody has confirmed."""
    from flywheel.search.queries import sides
    from flywheel.search.why import _receipts

    edited.edit(PAGE, "- We keep one queue.", "- We keep two queues.")
    look(edited)
    with edited.db.read() as tx:
        assert "two queues" not in str(_receipts(tx, [A])) and "one queue" in str(_receipts(tx, [A]))
        assert "two queues" not in str(sides(tx, [A])) and "one queue" in str(sides(tx, [A]))
