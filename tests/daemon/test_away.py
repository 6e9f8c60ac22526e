"""What the daemon's own threads do while the store, or the data folder, is away."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.talking import House, open_house

from flywheel.app.progress import IMPORTS, Imports
from flywheel.daemon import watch
from flywheel.daemon.lanes import Lanes
from flywheel.daemon.serve import Keeper
from flywheel.daemon.sweep import Sweep
from flywheel.errors import NotFound, Unavailable
from flywheel.harvest.discover import Root
from flywheel.jobs import queue
from flywheel.model import Micros
from flywheel.projects import queries as projects


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A store, and a project."""
    made = open_house(tmp_path, "")
    yield made
    made.app.close()
    made.parts.close()


def queued(house: House) -> list[tuple[str, str]]:
    """The jobs that were asked for."""
    with house.parts.db.read() as tx:
        return [(kind, key) for kind, key in tx.all("SELECT kind, key FROM job ORDER BY kind")]


def test_events_are_kept_until_the_store_takes_them(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transcript and code change while the server is away: both are asked for once it is back, not a sweep later."""
    home = house.parts.home
    (home / ".claude/projects/-w").mkdir(parents=True)
    file = home / ".claude/projects/-w/0190aaaa-0000-4000-8000-000000000001.jsonl"
    file.write_text("{}\n")
    seen = watch.Watch(house.parts, house.app, Sweep(house.parts, house.app))
    seen._roots = seen._parts.whereabouts().roots()
    assert any(isinstance(root, Root) and str(file).startswith(root.path) for root in seen._roots)
    project = projects.resolve(house.parts.db, str(house.project), Micros(1)).id
    seen._projects = {str(house.project): project}
    seen._changed.paths.add(str(file))
    seen._due.add(str(house.project), "a.py", 0.0)

    def away(**given: object) -> Any:
        raise Unavailable("the server does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(type(house.parts.db), "write", lambda self, **given: away())
        with pytest.raises(Unavailable):
            seen._act()
    assert ("harvest", str(file)) not in queued(house)
    wanted = {("harvest", str(file)), ("sync", str(house.project))}
    pause = threading.Event()
    for _ in range(2000):  # changes of code are due after a moment of quiet
        seen._act()
        if wanted <= set(queued(house)) or pause.wait(0.02):
            break
    assert wanted <= set(queued(house))


def test_nothing_is_started_once_the_folder_is_gone(house: House) -> None:
    """The keeper ends with the look that finds it, before it has a lane make a new store in the old place."""
    keeper, started = Keeper(), list[str]()

    class Idle(Lanes):
        def ensure(self, name: str) -> None:
            started.append(name)

    with house.parts.db.write() as tx:
        queue.enqueue(tx, kind="harvest", key="x", project_id=None, now=Micros(0))
    keeper.run(house.parts, Idle({}, {}, keeper.poke), house.app.readers, keeper.stop)
    assert started == []


def test_the_imports_that_are_remembered_are_bounded(house: House) -> None:
    """A daemon that imports every hour for a year forgets the first; the last can be asked for."""
    imports = Imports()
    ids = [imports.begin({}, (), Micros(number)) for number in range(IMPORTS + 3)]
    with house.parts.db.read() as tx:
        assert imports.progress(tx, ids[-1], open_jobs=0, behind=0).done
        with contextlib.suppress(NotFound):
            imports.progress(tx, ids[0], open_jobs=0, behind=0)
            raise AssertionError("the first is still known")
