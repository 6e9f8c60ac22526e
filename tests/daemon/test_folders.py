"""Folders that are watched once they are there, and still are when another one stands in their place."""

from __future__ import annotations

import queue
import shutil
from pathlib import Path
from typing import Any

import pytest
from watchdog.events import FileSystemEvent, FileSystemEventHandler

from flywheel.codemap.sparing import SparingObserver
from flywheel.daemon.folders import CUT, Folders


class Heard(FileSystemEventHandler):
    """Passes on the names of what changed."""

    def __init__(self) -> None:
        self.names: queue.Queue[str] = queue.Queue()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Any thread of watchdog's."""
        self.names.put(str(event.src_path).rpartition("/")[2])

    def until(self, name: str) -> None:
        """Wait for a name."""
        while self.names.get(timeout=60) != name:
            pass


@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_a_folder_that_another_one_takes_the_place_of_is_watched_again(tmp_path: Path, how: str) -> None:
    """Somebody clears an agent's transcripts or moves them aside: the new folder's files are heard of at once."""
    folder, heard, observer = tmp_path / "projects", Heard(), SparingObserver()
    folder.mkdir()
    folders = Folders(observer, heard)
    observer.start()
    try:
        assert folders.meet(str(folder), deep=True)
        (folder / "before").write_text("1")
        heard.until("before")
        folder.rename(tmp_path / "aside")  # its inode stays in use, so that the new folder has another one
        folder.mkdir()
        if how == "deleted":
            shutil.rmtree(tmp_path / "aside")
        assert folders.meet(str(folder), deep=True)
        assert not folders.meet(str(folder), deep=True)
        (folder / "after").write_text("1")
        heard.until("after")
    finally:
        observer.stop()
        observer.join()


class Full:
    """An observer of a system that has no watches left."""

    def __init__(self) -> None:
        self.room = False
        self.cut: set[str] = set()
        self.gone: list[object] = []

    def schedule(self, handler: object, folder: str, *, recursive: bool) -> object:
        """As watchdog's."""
        if not self.room:
            raise OSError(28, "inotify watch limit reached")
        return folder

    def unschedule(self, watch: object) -> None:
        """As watchdog's."""
        self.gone.append(watch)


def test_what_could_not_be_watched_is_told_and_tried_again(tmp_path: Path) -> None:
    """While there is no room the folder counts as met, and says why; once there is, it is met anew."""
    observer: Any = Full()
    folders, folder = Folders(observer, FileSystemEventHandler()), str(tmp_path)
    assert folders.meet(folder, deep=True) and not folders.meet(folder, deep=True)
    assert "limit reached" in folders.refused()[folder]
    observer.room = True
    folders.retry()
    assert folders.meet(folder, deep=True) and not folders.meet(folder, deep=True)
    assert not folders.refused()
    observer.cut = {folder, "/another's"}
    assert folders.refused() == {folder: CUT}
    folders.retry()
    observer.cut = set()
    assert folders.meet(folder, deep=True) and observer.gone == [folder]
    assert not folders.refused()
