"""Watching memory trees: what others write is noticed, what Flywheel writes is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.tree.growing import PROJECT, Grove
from watchdog.events import (
    DirModifiedEvent,
    FileClosedNoWriteEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
)

from flywheel.app import open_parts
from flywheel.config import Config, Places
from flywheel.daemon.watch_trees import TreeWatch


class Observer:
    """Remembers what is to be watched."""

    def __init__(self) -> None:
        self.watched: list[tuple[str, bool]] = []

    def schedule(self, handler: object, folder: str, *, recursive: bool) -> None:
        """As watchdog's."""
        self.watched.append((folder, recursive))


def test_only_other_peoples_writes_are_taken(tmp_path: Path) -> None:
    """Scratch files, renames of them and the history are ours; everything else is told, by project."""
    places = Places(config=tmp_path / "c", data=tmp_path / "data", run=tmp_path / "run")
    parts = open_parts(Config(), places, {}, tmp_path)
    observer: Any = Observer()
    woken: list[int] = []
    watch = TreeWatch(observer, parts, lambda: woken.append(1))
    assert watch.keep() == ()
    grove = Grove(parts.db, parts.data)
    grove.page("0190aaaa-0000-7000-8000-0000000000a1", "One queue")
    grove.render()
    assert watch.keep() == (PROJECT,) and watch.keep() == ()
    root = str(grove.root)
    assert observer.watched == [(root, False), (f"{root}/wiki", True), (f"{root}/raw", True)]
    for event in (
        FileModifiedEvent(f"{root}/wiki/decisions/.fw-1-x.md"),
        FileMovedEvent(f"{root}/.fw-1-index.md", f"{root}/index.md"),
        FileMovedEvent(f"{root}/index.md", f"{root}/.fw-1-index.md"),
        FileClosedNoWriteEvent(f"{root}/index.md"),
        DirModifiedEvent(f"{root}/wiki"),
    ):
        watch.on_any_event(event)
    assert not woken and not watch.take()
    for seen in (
        FileModifiedEvent(f"{root}/wiki/decisions/one-queue.md"),
        FileMovedEvent(f"{root}/index.md~", f"{root}/index.md"),
        FileCreatedEvent(f"{root}/raw/a.md"),
        FileDeletedEvent(f"{root}/log.md"),
        FileModifiedEvent(f"{root}/.git/index"),
        FileModifiedEvent(f"{tmp_path}/elsewhere.md"),
    ):
        watch.on_any_event(seen)
    assert woken
    assert watch.take() == {PROJECT: ["index.md", "index.md~", "log.md", "raw/a.md", "wiki/decisions/one-queue.md"]}
    assert not watch.take()
    parts.close()
