"""The memory tree under a real daemon: rendered, edited in an editor, restored, committed, searched and forgotten."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import orjson
from tests.e2e.conftest import House, until

from flywheel.errors import Unavailable


def tree_of(house: House, project: str) -> Path:
    """The tree's folder, once it was committed."""

    def committed() -> object:
        with contextlib.suppress(Unavailable):  # it is being rendered
            return house.client.tree_log(cwd=project).changes
        return False

    until("a first commit", committed)
    return Path(house.client.tree_ls(cwd=project).root)


def page_in(root: Path) -> Path:
    """A page that nobody has decided about."""
    pages = sorted((root / "wiki").rglob("*.md"))
    return next(path for path in pages if "\nstatus: candidate\n" in path.read_text("utf-8"))


def fact_of(page: Path) -> str:
    """The first fact of a page, with its bullet."""
    return page.read_text("utf-8").partition("## Understanding\n\n")[2].partition("\n")[0]


def log_of(root: Path) -> str:
    """The tree's log."""
    return (root / "log.md").read_text("utf-8")


def save(path: Path, text: str) -> None:
    """Save as many editors do: into another file, which takes the place of the first."""
    other = path.with_name(f"{path.name}~")
    other.write_text(text, "utf-8")
    other.replace(path)


def test_a_tree_grows_is_edited_and_heals(any_house: House) -> None:
    """An edited fact waits for review, everything else comes back, and each of it is in the history."""
    house = any_house
    project = house.demo()
    root = tree_of(house, project)
    page = page_in(root)
    fact, before = fact_of(page), page.read_text("utf-8")
    save(page, before.replace(fact, "- Redis stays after all."))
    until("the edit on the page", lambda: "Edited, not reviewed" in page.read_text("utf-8"))
    assert "- Redis stays after all." in page.read_text("utf-8")
    until("the edit in the log", lambda: "the change waits for review" in log_of(root))

    save(page, page.read_text("utf-8").replace("said by the user", "said by the king"))
    until("the timeline as it was", lambda: "said by the king" not in page.read_text("utf-8"))
    assert "- Redis stays after all." in page.read_text("utf-8")
    (root / "index.md").unlink()
    until("the index again", lambda: (root / "index.md").exists())
    (root / "raw").mkdir(exist_ok=True)
    (root / "raw/kick-off.md").write_text("# Kick-off\n\nExports are kept for 30 days.\n", "utf-8")

    def listed() -> bool:
        return "kick-off.md" in (root / "index.md").read_text("utf-8")

    until("the dropped file as evidence", listed)
    with (root / "raw/kick-off.md").open("a") as file:
        file.write("Or not.\n")
    until("the evidence as it was", lambda: "Or not" not in (root / "raw/kick-off.md").read_text("utf-8"))
    until(
        "what the dropped file says",
        lambda: "30 days" in str(house.client.tree_grep(pattern="30 days", path="wiki", cwd=project)),
    )

    def told() -> str:
        return str(house.client.tree_log(cwd=project).changes)

    until("the history of it", lambda: "refused raw/kick-off.md" in told() and "taken in raw/kick-off.md" in told())
    text = house.client.tree_cat(path=str(page.relative_to(root)), cwd=project).text
    assert "- Redis stays after all." in text and "> **Unconfirmed.**" in text
    assert not house.client.jobs(state="dead").jobs


def test_what_happened_while_no_daemon_ran(house: House) -> None:
    """Edits, deletions and new files are found when it starts again."""
    project = house.demo()
    root = tree_of(house, project)
    page = page_in(root)
    house.stop()
    save(page, page.read_text("utf-8").replace(fact_of(page), "- Redis stays after all."))
    (root / "index.md").unlink()
    house.start()
    until("the index again", lambda: (root / "index.md").exists())
    until("the edit taken in", lambda: "Edited, not reviewed" in page.read_text("utf-8"))


def test_forgetting_leaves_no_trace(house: House) -> None:
    """What a person has forgotten leaves pages and history."""
    project = house.demo()
    root = tree_of(house, project)
    page = page_in(root)
    short = next(line for line in page.read_text("utf-8").splitlines() if line.startswith("id: ")).removeprefix("id: ")
    quote = fact_of(page).removeprefix("- ").partition(" [fw:")[0]
    house.client.forget(id=short)
    until("the page's end", lambda: not page.exists())

    def objects() -> bytes:
        command = ["git", "-C", str(root), "cat-file", "--batch-all-objects", "--batch"]
        return subprocess.run(command, capture_output=True, check=False).stdout  # in between there is none

    until("a history without it", lambda: objects() and quote.encode() not in objects())
    assert quote not in log_of(root) and page.name not in log_of(root)


def test_the_command_line(house: House) -> None:
    """Every command prints for people and as JSON, and exits as it should."""
    project = house.demo()
    root = tree_of(house, project)
    run = house.command

    def say(*words: str) -> str:
        done = run("tree", *words, "--cwd", project)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    assert say("path").strip() == str(root)
    assert "decisions/" in say() and "index.md" in say("ls")
    name = say("ls", "wiki/decisions").splitlines()[0]
    assert say("cat", f"wiki/decisions/{name}").startswith("---\ntitle: ")
    assert "## Timeline" in say("cat", f"wiki/decisions/{name}")
    lines = say("grep", "-i", "-n", "-C", "1", "REDIS", "wiki").splitlines()
    assert any(line.split(":")[1].isdigit() for line in lines if ":" in line and line.startswith("wiki/"))
    assert any("-" in line for line in lines)
    found = orjson.loads(say("grep", "-E", "redis|Redis", "--json"))
    assert found["matches"] and found["files"] > 1
    assert "added" in say("log") and "+# postroom" in say("diff", "index.md")
    assert "# claude session" in say("cat", orjson.loads(say("ls", "raw/transcripts", "--json"))["items"][0]["path"])
    assert run("tree", "grep", "nothingLikeThis", "--cwd", project).returncode == 1
    assert run("tree", "grep", "[", "--cwd", project).returncode == 2
    assert run("tree", "cat", "nope", "--cwd", project).returncode == 3
    assert run("tree", "cat", "../x", "--cwd", project).returncode == 4
