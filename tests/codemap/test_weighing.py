"""The names that files use, as a sync keeps them, and what follows: the graph, the counts, the places to read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.codemap.test_sync import SECOND, Checkout, checkout_in

from flywheel.codemap import using
from flywheel.codemap.charting import uses_of, web_marks, web_of
from flywheel.codemap.pool import ParserPool
from flywheel.codemap.queries import symbols_called
from flywheel.codemap.referring import Question, Uses, look_through
from flywheel.codemap.rows import Place
from flywheel.codemap.topology import neighbourhood
from flywheel.codemap.using import files_to_read, used_in
from flywheel.codemap.weighing import DELAY, KIND, enqueue_weighing, run
from flywheel.codemap.worker import sync_checkout
from flywheel.model import FileNames, Job, SymbolUse
from flywheel.store import Db, mapper

RACKS = {
    "src/shop/racks.py": "class WoodenRack:\n    pass\n\n\ndef paint(): pass\n",
    "src/shop/hall.py": "import shop.racks\n\n\ndef hall(): return WoodenRack()\n",
    "src/shop/yard.py": "def yard(): return WoodenRack()  # paint\n",
    "web/rack.ts": "export class WoodenRack {}\n",
    "web/far.ts": "export const far = () => new WoodenRack();\n",
}


def racks_in(db: Db, data: Path, pool: ParserPool) -> Checkout:
    """A small checkout in Python and TypeScript, synced."""
    shop = checkout_in(db, data, pool)
    shop.write(RACKS)
    shop.sync()
    return shop


@pytest.fixture
def shop(sqlite_db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The same on SQLite."""
    return racks_in(sqlite_db, data, pool)


def names(shop: Checkout) -> dict[str, str]:
    """Path → the names that it is kept with."""
    with shop.db.read() as tx:
        paths: dict[str, str] = dict(tx.all("SELECT id, path FROM source_file"))
        return {paths.get(row.file_id, "lost"): row.names for row in mapper.find(tx, FileNames)}


def used(shop: Checkout) -> dict[str, tuple[int, float]]:
    """``path:name`` → files that use it, their shares."""
    with shop.db.read() as tx:
        return {f"{row.path}:{row.name}": (row.files, row.share) for row in mapper.find(tx, SymbolUse)}


def near(shop: Checkout, path: str) -> list[str]:
    """What lies near a file."""
    with shop.db.read() as tx:
        return [one.path for one in neighbourhood(web_of(tx, shop.project), [path])]


def test_names_are_kept_with_files(db: Db, data: Path, pool: ParserPool) -> None:
    """Each file of code has a row, which changes and goes with it; what uses what is kept for its project alone."""
    shop = racks_in(db, data, pool)
    assert names(shop)["src/shop/yard.py"] == " WoodenRack def return "
    assert used(shop) == {"src/shop/racks.py:WoodenRack": (2, 2.0)}
    with shop.db.read() as tx:
        assert uses_of(tx, [str(shop.root)])["src/shop/yard.py", "src/shop/racks.py"] > 1
    assert near(shop, "src/shop/yard.py")[0] == "src/shop/racks.py"
    assert near(shop, "web/far.ts") == ["web/rack.ts"]  # no import, and another language's rack is none
    shop.write({"src/shop/yard.py": "def yard(): return 1\n"})
    (shop.root / "web/far.ts").unlink()
    shop.sync()
    assert names(shop)["src/shop/yard.py"] == " def return "
    assert "web/far.ts" not in names(shop) and "lost" not in names(shop)
    assert used(shop) == {} and near(shop, "src/shop/yard.py") == []


def test_a_checkout_of_another_project(shop: Checkout) -> None:
    """What it is taken for now is told of everything that is kept of it."""
    shop.project = SECOND
    shop.sync()
    with shop.db.read() as tx:
        assert {row.project_id for row in mapper.find(tx, FileNames)} == {SECOND}
        assert {row.project_id for row in mapper.find(tx, SymbolUse)} == {SECOND}


def test_weighing_again_changes_nothing(shop: Checkout) -> None:
    """A sweep over what is the same leaves rows and web alone; nothing reckons it anew."""
    with shop.db.read() as tx:
        before = (used(shop), web_marks(tx, [shop.project]))
    shop.beats.clear()
    shop.sync()
    with shop.db.read() as tx:
        assert (used(shop), web_marks(tx, [shop.project])) == before
    assert not any(beat.startswith("weighing") for beat in shop.beats)


def asked(shop: Checkout) -> list[tuple[str, str | None]]:
    """The weighings that wait: checkout, project."""
    with shop.db.read() as tx:
        return [(job.key, job.project_id) for job in mapper.find(tx, Job, "WHERE kind = :kind", kind=KIND)]


def test_weighing_is_a_job_of_its_own(shop: Checkout) -> None:
    """Sweeps that met a change ask for it, once together and a moment later; others, and single files, do not."""
    root = str(shop.root)

    def sync(paths: list[str] | None = None) -> None:
        sync_checkout(root, shop.project, shop.deps, shop.pool, paths)

    sync()
    shop.write({"src/shop/yard.py": "def yard(): return 1\n"})
    sync(["src/shop/yard.py"])
    assert asked(shop) == []
    before = shop.db.clock()
    sync()
    sync()
    assert asked(shop) == [(root, shop.project)]
    with shop.db.read() as tx:
        assert [job.run_after >= before + DELAY * 1e6 for job in mapper.find(tx, Job, "WHERE kind = 'weigh'")] == [True]
    assert used(shop) == {"src/shop/racks.py:WoodenRack": (2, 2.0)}
    shop.sync()
    assert used(shop) == {} and asked(shop) == []


def test_weighing_is_of_the_project_that_the_files_are_of_now(shop: Checkout) -> None:
    """A job that was asked for before a checkout changed hands gives nothing to the project that lost it."""
    with shop.db.write() as tx:
        tx.run("UPDATE source_file SET project_id = :second", second=SECOND)
        enqueue_weighing(tx, Place(shop.project, str(shop.root)), shop.db.clock())
        (job,) = mapper.find(tx, Job, "WHERE kind = :kind", kind=KIND)
    run(job, shop.deps)
    with shop.db.read() as tx:
        assert {row.project_id for row in mapper.find(tx, SymbolUse)} == {SECOND}


def test_a_file_that_is_no_code_any_more_uses_nothing(shop: Checkout) -> None:
    """What became binary has no names left."""
    shop.write({"src/shop/yard.py": b"WoodenRack\0"})
    shop.sync()
    assert names(shop)["src/shop/yard.py"] == ""


def test_two_work_trees_have_names_of_their_own(shop: Checkout, data: Path) -> None:
    """The web is of both; how often a name is used is told of the one that one stands in."""
    tree = Checkout(shop.db, data, shop.root.parent / "tree", shop.pool, now=shop.now)
    tree.write(RACKS | {"src/shop/yard.py": "def yard(): pass\n", "src/shop/pier.py": "WoodenRack()\n"})
    tree.sync()
    assert near(shop, "src/shop/pier.py")[0] == "src/shop/racks.py"
    with shop.db.read() as tx:
        told = [used_in(tx, [shop.project], "WoodenRack", home) for home in (str(shop.root), str(tree.root), "/else")]
        assert told == [3, 3, 4]
        assert used_in(tx, [SECOND], "WoodenRack", "") is None and used_in(tx, [shop.project], "ab", "") is None
        assert used_in(tx, [shop.project], "Wooden_ack", "") == used_in(tx, [shop.project], "nowhere", "") == 0


def test_of_many_files_the_last_weighing_tells_how_often_a_name_is_used(
    shop: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for thousands of files to be looked through; by language then, and not what fewer than two use."""
    with shop.db.read() as tx:
        found = symbols_called(tx, [shop.project], "WoodenRack", str(shop.root), 10)
        assert used_in(tx, [shop.project], "WoodenRack", str(shop.root), found) == 3
        monkeypatch.setattr(using, "LOOKED_THROUGH", 1)
        assert used_in(tx, [shop.project], "WoodenRack", str(shop.root), found) == 2  # Python's, besides TypeScript's
        assert used_in(tx, [shop.project], "WoodenRack", "", found) == 2
        assert used_in(tx, [shop.project], "nowhere", str(shop.root)) is None


@pytest.mark.parametrize("name", ["WoodenRack", "paint", "price", "b", "Shelf", "return"])
def test_fewer_files_are_read_with_the_same_answer(shop: Checkout, name: str) -> None:
    """Those that use or define the name, and those that changed since they were looked at; of short names all."""
    shop.write({"src/shop/prices.py": "def price(): return WoodenRack(paint)\n"})
    (shop.root / "web/app.ts").unlink()
    with shop.db.read() as tx:
        few = files_to_read(tx, [shop.project], name, str(shop.root))
        rows = tx.all("SELECT path, language FROM source_file WHERE state = 'indexed'")
    every = [(str(shop.root / path), path, language) for path, language in rows]

    def uses(files: list[tuple[str, str, str]]) -> Uses:
        return look_through(Question(name=name, files=files))

    assert uses(few) == uses(every)
    assert len(few) < len(every) or name == "b"
    assert "src/shop/prices.py" in {path for _, path, _ in few}


def test_a_saved_file_leads_at_once_where_its_names_lead(db: Db, data: Path, pool: ParserPool) -> None:
    """Within the sync of that file, as the next weighing of everything has it; one that goes leads nowhere."""
    shop = racks_in(db, data, pool)
    shop.write({"src/shop/gate.py": "class IronGate:\n    pass\n"})
    shop.sync()
    shop.write({"src/shop/yard.py": "def yard(): return IronGate()\n"})
    shop.sync(["src/shop/yard.py"])
    with shop.db.read() as tx:
        at_once = uses_of(tx, [str(shop.root)])
    assert ("src/shop/yard.py", "src/shop/racks.py") not in at_once
    assert near(shop, "src/shop/yard.py")[0] == "src/shop/gate.py"
    shop.sync()
    with shop.db.read() as tx:
        weighed = uses_of(tx, [str(shop.root)])
    assert weighed.keys() == at_once.keys()
    assert weighed["src/shop/yard.py", "src/shop/gate.py"] == at_once["src/shop/yard.py", "src/shop/gate.py"]
    (shop.root / "src/shop/yard.py").unlink()
    shop.sync(["src/shop/yard.py"])
    assert near(shop, "src/shop/yard.py") == []
