"""File events of checkouts: gathered, sifted, and kept within what the system can watch."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watchdog.events import (
    DirCreatedEvent,
    DirModifiedEvent,
    FileClosedNoWriteEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers.inotify_c import InotifyFD

from flywheel.codemap.sparing import SparingObserver
from flywheel.codemap.watch import CheckoutWatch, Debounce, concerns, count_folders, watch_limit


class Recorder:
    """An observer that only remembers."""

    def __init__(self, fails: bool = False) -> None:
        self.watched: dict[str, FileSystemEventHandler] = {}
        self.fails = fails

    def schedule(self, event_handler: FileSystemEventHandler, path: str, *, recursive: bool = False) -> Any:
        """Watch."""
        if self.fails:
            raise OSError(28, "inotify watch limit reached")
        assert recursive
        self.watched[path] = event_handler
        return path

    def unschedule(self, watch: Any) -> None:
        """Watch no more."""
        del self.watched[watch]


def test_a_burst_becomes_due_once_it_is_quiet() -> None:
    """Changes come together until 200 ms have passed without one; each checkout by itself."""
    gathered = Debounce()
    gathered.add("/a", "x.py", 10.0)
    gathered.add("/a", "y.py", 10.1)
    gathered.add("/a", "x.py", 10.15)
    gathered.add("/b", "z.py", 10.2)
    assert list(gathered.due(10.34)) == []
    assert gathered.wait(10.3) == pytest.approx(0.05)
    assert list(gathered.due(10.36)) == [("/a", ["x.py", "y.py"])]
    assert list(gathered.due(10.41)) == [("/b", ["z.py"])]
    assert gathered.wait(11) is None


def test_an_endless_burst_is_due_all_the_same() -> None:
    """A build that writes without a pause does not hold changes back for ever."""
    gathered = Debounce()
    for number in range(30):
        gathered.add("/a", f"{number}.py", number * 0.1)
        if list(gathered.due(number * 0.1)):
            break
    assert number == 20


def test_unknown_changes_mean_the_whole_checkout() -> None:
    """An event that names nothing makes the paths beside it superfluous."""
    gathered = Debounce()
    gathered.add("/a", "x.py", 0)
    gathered.add("/a", "", 0)
    assert list(gathered.due(1)) == [("/a", [])]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(0, 1)), max_size=30))
def test_no_event_is_lost(events: list[tuple[str, str, float]]) -> None:
    """Whatever the order and pace, every change comes out, at the latest two seconds after it."""
    gathered, now = Debounce(), 0.0
    came: dict[tuple[str, str], float] = {}
    for root, path, pause in events:
        now += pause
        gathered.add(root, path, now)
        came.setdefault((root, path), now)
        for due, paths in gathered.due(now):
            for one in paths:
                assert now - came.pop((due, one)) <= 2.0 + 1.0
    for due, paths in gathered.due(now + 2):
        for one in paths:
            came.pop((due, one))
    assert came == {}


@pytest.mark.parametrize(
    ("path", "means"),
    [
        ("a/b.py", "a/b.py"), ("x.tsx", "x.tsx"), ("README.md", "README.md"), ("x.txt", None), (".git/index", None),
        ("node_modules/a/b.js", None),
        ("target/debug/x.rs", None), (".gitignore", ""), ("sub/.flywheelignore", ""), ("go.mod", ""), ("a.pyc", None),
        ("Cargo.toml", ""), ("tools/Makefile", ""), ("justfile", ""),
    ],
)  # fmt: skip
def test_what_a_changed_path_means(path: str, means: str | None) -> None:
    """Source files mean themselves, ignore files and manifests everything, the rest nothing."""
    assert concerns(path) == means


def heard(*events: FileSystemEvent, root: str = "/c") -> list[tuple[str, str]]:
    """What a watched checkout makes of watchdog's events."""
    told: list[tuple[str, str]] = []
    observer = Recorder()
    watch = CheckoutWatch(observer, lambda root, path: told.append((root, path)), lambda: 100)
    watch.keep([root])
    for event in events:
        observer.watched[root].dispatch(event)
    return sorted(told)


def test_a_changed_manifest_of_kubernetes_is_seen_at_once(tmp_path: Path) -> None:
    """Whatever its name, it is a reason to look at all services; other YAML is one file; what is gone may be any."""
    (tmp_path / "app.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n")
    (tmp_path / "ci.yml").write_text("jobs: {}\n")
    root = str(tmp_path)
    assert heard(FileModifiedEvent(f"{root}/app.yaml"), root=root) == [(root, "")]
    assert heard(FileModifiedEvent(f"{root}/ci.yml"), root=root) == [(root, "ci.yml")]
    assert heard(FileModifiedEvent(f"{root}/gone.yml"), root=root) == [(root, "")]


def test_events_become_paths() -> None:
    """Reads are nothing, moves are both ends, new folders are the whole checkout, vendored ones nothing."""
    assert heard(FileModifiedEvent("/c/a.py"), FileClosedNoWriteEvent("/c/b.py")) == [("/c", "a.py")]
    assert heard(FileMovedEvent("/c/a.py", "/c/d/b.py")) == [("/c", "a.py"), ("/c", "d/b.py")]
    assert heard(FileMovedEvent("/c/tmp123", "/c/b.py")) == [("/c", "b.py")]
    assert heard(FileMovedEvent("/c/a.py", "/elsewhere/a.py")) == [("/c", "a.py")]
    assert heard(DirCreatedEvent("/c/new"), DirModifiedEvent("/c/new")) == [("/c", "")]
    assert heard(DirCreatedEvent("/c/node_modules")) == []
    assert heard(DirCreatedEvent("/c/.git/objects/ab")) == []


def test_only_what_fits_is_watched(tmp_path: Path) -> None:
    """Checkouts past half of the system's limit are left to the sweep, and it says so; room is given back."""
    for name, folders in (("small", 3), ("large", 50), ("other", 5)):
        for number in range(folders):
            (tmp_path / name / f"d{number}").mkdir(parents=True)
    roots = {name: str(tmp_path / name) for name in ("small", "large", "other")}
    observer = Recorder()
    watch = CheckoutWatch(observer, lambda root, path: None, lambda: 100)
    standing = watch.keep(list(roots.values()))
    assert {root for root, watched in standing.items() if watched.events} == {roots["small"], roots["other"]}
    assert "max_user_watches" in standing[roots["large"]].why
    assert set(observer.watched) == {roots["small"], roots["other"]}
    watch.keep([roots["other"]])
    assert set(observer.watched) == set(watch.standing()) == {roots["other"]}


def test_a_refused_watch_is_no_error(tmp_path: Path) -> None:
    """When the system refuses, the checkout is left to the sweep."""
    watch = CheckoutWatch(Recorder(fails=True), lambda root, path: None, lambda: 100)
    (standing,) = watch.keep([str(tmp_path)]).values()
    assert not standing.events
    assert "limit reached" in standing.why


def test_a_checkout_that_was_not_watched_is_tried_again(tmp_path: Path) -> None:
    """Once the system has room again, its events are heard, and it is looked at as a whole."""
    observer, told = Recorder(fails=True), list[tuple[str, str]]()
    watch = CheckoutWatch(observer, lambda root, path: told.append((root, path)), lambda: 100)
    root = str(tmp_path)
    watch.keep([root])
    assert told == []
    observer.fails = False
    assert watch.keep([root])[root].events
    assert told == [(root, "")]
    watch.keep([root])
    assert told == [(root, "")]


def test_a_checkout_that_another_one_takes_the_place_of_is_watched_again(tmp_path: Path) -> None:
    """A clone is deleted and another repository put there: its changes are heard of, and all of it is looked at."""
    import queue

    told: queue.Queue[tuple[str, str]] = queue.Queue()
    root, observer = tmp_path / "shop", SparingObserver()
    root.mkdir()
    watch = CheckoutWatch(observer, lambda root, path: told.put((root, path)))
    watch.keep([str(root)])
    observer.start()
    try:
        root.rename(tmp_path / "aside")
        root.mkdir()
        assert watch.keep([str(root)])[str(root)].events
        while told.get(timeout=60)[1] != "":
            pass
        (root / "a.py").write_text("x = 1\n")
        while told.get(timeout=60)[1] != "a.py":
            pass
    finally:
        observer.stop()
        observer.join()


def test_a_checkout_of_which_a_part_is_not_watched_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's watches run out in the middle of it: watchdog is silent, `status` is not, and it is tried again."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    full, real = [True], InotifyFD.add_callback

    def add(self: InotifyFD, path: bytes, *given: Any) -> Any:
        if full[0] and path.endswith(b"/b"):
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        return real(self, path, *given)

    monkeypatch.setattr(InotifyFD, "add_callback", add)
    observer, root = SparingObserver(), str(tmp_path)
    watch = CheckoutWatch(observer, lambda root, path: None)
    observer.start()
    try:
        watch.keep([root])
        assert "max_user_watches" in watch.standing()[root].why and not watch.standing()[root].events
        full[0] = False
        watch.keep([root])
        assert watch.standing()[root].events
    finally:
        observer.stop()
        observer.join()


def test_counting_stops_early(tmp_path: Path) -> None:
    """A huge tree is not counted to its end; a loop of links is not entered; what cannot be read is one folder."""
    for number in range(20):
        (tmp_path / f"d{number}").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / "d0" / "node_modules" / "x").mkdir(parents=True)
    assert count_folders(str(tmp_path), 100) == 21
    assert count_folders(str(tmp_path), 5) == 6
    assert count_folders(str(tmp_path / "nowhere"), 5) == 1


def test_the_limit_is_read_from_the_system(tmp_path: Path) -> None:
    """With a cautious answer where it cannot be read."""
    (tmp_path / "limit").write_text("123\n")
    assert watch_limit(tmp_path / "limit") == 123
    assert watch_limit(tmp_path / "nowhere") == 8192


def watches() -> int:
    """The folders that this process watches, as the system counts them."""
    told = [file.read_text() for file in Path("/proc/self/fdinfo").iterdir() if file.exists()]
    return sum(text.count("inotify wd:") for text in told)


def test_with_a_real_observer(tmp_path: Path) -> None:
    """A written file is heard of, through watchdog itself, in new folders too; what is git's own costs no watch."""
    import queue

    for folder in ("a", "a/node_modules/x", ".git/objects/ab"):
        (tmp_path / folder).mkdir(parents=True)
    told: queue.Queue[tuple[str, str]] = queue.Queue()
    before = watches()
    observer = SparingObserver()
    watch = CheckoutWatch(observer, lambda root, path: told.put((root, path)))
    watch.keep([str(tmp_path)])
    observer.start()
    try:
        (tmp_path / "a.py").write_text("x = 1\n")
        assert told.get(timeout=60) == (str(tmp_path), "a.py")
        assert watches() == before + 2  # the checkout and a
        (tmp_path / "late" / ".git" / "refs").mkdir(parents=True)
        while told.get(timeout=60)[1] != "":
            pass
        (tmp_path / "late" / "b.py").write_text("x = 1\n")
        while told.get(timeout=60)[1] != "late/b.py":
            pass
        assert watches() == before + 3
    finally:
        observer.stop()
        observer.join()
