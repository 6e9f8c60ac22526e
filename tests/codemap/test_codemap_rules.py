"""The plan of a sync and the map of the modules: pure decisions."""

from __future__ import annotations

from flywheel.codemap.planning import Known, Listed, plan
from flywheel.codemap.rules import MOST_FOLDERS, Modules, Topology, focus, map_modules, render_topology
from flywheel.model import Clean, Micros, ProjectId

SECOND = 1_000_000


def listed(path: str, size: int = 10, mtime: int = 100, state: str = "") -> Listed:
    """A file on disk; ``mtime`` in seconds."""
    return Listed(path, "python", size, mtime * 1_000_000_000, state)


def known(path: str, size: int = 10, mtime: int = 100, state: str = "indexed", at: int = 200) -> Known:
    """A file in the index; ``at`` in seconds."""
    return Known(path, ProjectId("p"), path, "python", size, mtime * 1_000_000_000, "sha", state, Micros(at * SECOND))


def planned(here: Listed | None, there: Known | None, *, complete: bool = True, anew: bool = False) -> str:
    """What is to be done about one file, as a word."""
    path = here.path if here else "a"
    todo = plan(
        {path: here} if here or not complete else {}, {there.path: there} if there else {},
        max_bytes=1000, complete=complete, anew=anew,
    )  # fmt: skip
    words = [f"look {sha}".strip() for _, sha in todo.look] + [state for _, state in todo.skip]
    return " ".join([*words, *("gone" for _ in todo.gone)])


def test_what_a_sync_does_about_a_file() -> None:
    """Unchanged, touched, grown, skipped, huge, gone: the whole table."""
    assert planned(listed("a"), None) == "look"
    assert planned(listed("a"), known("a")) == ""
    assert planned(listed("a", size=11), known("a")) == "look sha"
    assert planned(listed("a", mtime=101), known("a")) == "look sha"
    assert planned(listed("a"), known("a", at=101)) == "look sha"  # read within the time stamp's grain
    assert planned(listed("a"), known("a"), anew=True) == "look"
    assert planned(listed("a", size=1001), None) == "huge"
    assert planned(listed("a", size=1001), known("a", size=1001, state="huge")) == ""
    assert planned(listed("a"), known("a", state="huge")) == "look"
    assert planned(listed("a"), known("a", state="unreadable")) == "look"
    assert planned(listed("a"), known("a", state="timeout")) == ""
    assert planned(listed("a"), known("a", state="generated")) == ""
    assert planned(listed("a", state="generated"), known("a")) == "generated"
    assert planned(listed("a", state="generated"), known("a", state="generated")) == ""
    assert planned(None, known("a")) == "gone"
    assert planned(None, known("a"), complete=False) == "gone"
    assert planned(None, None, complete=False) == ""


def test_single_files_leave_the_rest_alone() -> None:
    """What is known and was not asked about stays."""
    todo = plan(
        {"a": listed("a", size=9)}, {"a": known("a"), "b": known("b")}, max_bytes=99, complete=False, anew=False
    )
    assert ([item.path for item, _ in todo.look], todo.gone) == (["a"], [])


def test_large_files_go_first() -> None:
    """So that the parser processes end together."""
    files = {path: listed(path, size=size) for path, size in (("a", 1), ("b", 3), ("c", 2))}
    assert [item.path for item, _ in plan(files, {}, max_bytes=99, complete=True, anew=False).look] == ["b", "c", "a"]


SHOP = Modules(
    files={
        "src/shop/__init__.py": "python", "src/shop/prices.py": "python", "src/shop/stock/__init__.py": "python",
        "src/shop/stock/shelf.py": "python", "tests/test_prices.py": "python", "go/pay/pay.go": "go", "main.go": "go",
    },
    edges=[
        ("src/shop/prices.py", "src/shop/stock/shelf.py", False),
        ("src/shop/prices.py", "src/shop/stock/__init__.py", False),
        ("src/shop/stock/shelf.py", "src/shop/stock/__init__.py", False),
        ("tests/test_prices.py", "src/shop/prices.py", False),
        ("main.go", "go/pay", False),
        ("main.go", "fmt", True),
        ("main.go", "github.com/someone/thing/v2/deep", True),
        ("src/shop/prices.py", "json", True),
        ("src/shop/prices.py", "requests.sessions", True),
        ("tests/test_prices.py", "requests", True),
        ("tests/test_prices.py", "./tests/lost", True),
    ],
    docs={"src/shop/__init__.py": Clean("Sells things."), "go/pay/pay.go": Clean("Package pay takes money.")},
)  # fmt: skip


def test_the_map() -> None:
    """Folders with their needs, what is central, and the libraries without the languages' own."""
    drawn = map_modules(SHOP)
    assert (drawn.files, drawn.languages) == (7, [("python", 5), ("go", 2)])
    folders = {folder.path: folder for folder in drawn.folders}
    assert set(folders) == {"src/shop", "src/shop/stock", "tests", "go/pay", "."}
    assert folders["src/shop"].needs == [("src/shop/stock", 2)]
    assert folders["."].needs == [("go/pay", 1)]
    assert folders["src/shop"].doc == "Sells things."
    assert folders["go/pay"].doc == "Package pay takes money."
    assert drawn.central[0] == ("src/shop/stock/__init__.py", 2)
    assert drawn.external == [("requests", 2), ("github.com/someone/thing", 1)]


def test_a_map_of_very_many_folders_is_coarse() -> None:
    """Thousands of folders fold into their parents; every file is still counted."""
    files = {f"apps/a{app}/src/p{part}/f.py": "python" for app in range(30) for part in range(30)}
    drawn = map_modules(Modules(files=files, edges=[]))
    assert len(drawn.folders) == 30
    assert sum(folder.files for folder in drawn.folders) == 900
    flat = map_modules(Modules(files={f"d{number}/f.py": "python" for number in range(500)}, edges=[]))
    assert flat.files == 500
    assert (len(flat.folders), flat.left_out) == (MOST_FOLDERS, 500 - MOST_FOLDERS)


def test_focus_and_rendering() -> None:
    """What is near comes first, what does not fit is counted, and each level says less than the next."""
    near = focus(map_modules(SHOP), ["tests/test_prices.py", "nowhere/x.py"], 2)
    assert [(folder.path, folder.near) for folder in near.folders] == [("tests", True), ("src/shop", False)]
    assert near.left_out == 3
    body = render_topology(near, "body")
    assert body.splitlines() == [
        "7 source files (python 5, go 2) in 5 folders",
        "- tests (1 file) → src/shop (1)",
        "- src/shop (2 files): Sells things. → src/shop/stock (2)",
        "- and 3 more folders",
        "Most imported: src/shop/stock/__init__.py (2), go/pay (1), src/shop/prices.py (1), "
        "src/shop/stock/shelf.py (1)",
        "Libraries: requests, github.com/someone/thing",
    ]
    summary = render_topology(near, "summary")
    assert "Sells things" not in summary and len(summary) < len(body)
    assert render_topology(near, "title") == body.splitlines()[0]
    assert render_topology(Topology(), "body") == ""
