"""The services of a checkout and the web of its modules: kept at each sweep, on both stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.codemap.test_sync import SECOND, Checkout, checkout_in

from flywheel.codemap.charting import services_of, web_marks, web_of
from flywheel.codemap.pool import ParserPool
from flywheel.codemap.services import manifests_of
from flywheel.codemap.topology import neighbourhood
from flywheel.codemap.watch import concerns
from flywheel.model import Service
from flywheel.store import Db


def services(shop: Checkout) -> dict[str, Service]:
    """Name → row."""
    with shop.db.read() as tx:
        return {str(one.name): one for one in services_of(tx, str(shop.root))}


def test_services_follow_their_manifests(db: Db, data: Path, pool: ParserPool) -> None:
    """They come, change and go with the files; malformed ones are counted; unchanged ones are not read again."""
    shop = checkout_in(db, data, pool)
    secret = "ghp_" + "a1B2" * 9
    shop.write(
        {
            "compose.yml": f"services: {{web: {{depends_on: [db], command: 'run --key {secret}'}}, db: {{image: pg}}}}",
            "Procfile": "web: node web/app.ts\n",
            "deploy/broken.service": "no section",
            "node_modules/x/Procfile": "worker: x\n",
        }
    )
    shop.sync()
    found = services(shop)
    assert {name: (one.kind, list(one.needs)) for name, one in found.items()} == {
        "db": ("compose", []),
        "web (compose)": ("compose", ["db"]),
        "web (procfile)": ("procfile", []),
    }
    assert secret not in str(found) and found["web (compose)"].project_id == shop.project
    with shop.db.read() as tx:
        known = manifests_of(tx, str(shop.root))
    assert (known.files, known.skipped, list(known.malformed)) == (3, 1, ["deploy/broken.service"])
    with shop.db.write() as tx:
        tx.run("DELETE FROM service")
    shop.sync()
    assert services(shop) == {}  # nothing changed, so nothing was read
    (shop.root / "Procfile").unlink()
    shop.sync()
    assert set(services(shop)) == {"db", "web"}


def test_services_move_with_their_checkout(shop_of_services: Checkout) -> None:
    """A checkout that turns out to be of another project takes its services along."""
    shop = shop_of_services
    shop.sync()
    shop.project = SECOND
    shop.sync()
    assert {one.project_id for one in services(shop).values()} == {SECOND}


@pytest.fixture
def shop_of_services(sqlite_db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The little shop with a compose file."""
    shop = checkout_in(sqlite_db, data, pool)
    shop.write({"compose.yml": "services: {db: {image: pg}}"})
    return shop


def test_the_web_is_kept_at_sync(db: Db, data: Path, pool: ParserPool) -> None:
    """What lies near a file is reckoned from what the last sync left, and its mark says when that is another."""
    shop = checkout_in(db, data, pool)
    shop.sync()
    with shop.db.read() as tx:
        before = web_marks(tx, [shop.project])
        web = web_of(tx, shop.project)
        assert web_marks(tx, [SECOND]) == {} and web_of(tx, SECOND).nodes == []
    assert [one.path for one in neighbourhood(web, ["src/shop/prices.py"])] == [
        "src/shop/stock.py",
        "src/shop/__init__.py",
    ]
    shop.write({"src/shop/tags.py": "from shop.prices import Tag\n"})
    shop.sync(["src/shop/tags.py"])
    with shop.db.read() as tx:
        assert web_marks(tx, [shop.project]) != before
        assert "src/shop/tags.py" in web_of(tx, shop.project).number
        after = web_marks(tx, [shop.project])
    shop.write({"src/shop/tags.py": "from shop.prices import Tag\n\n\ndef more(): pass\n"})
    shop.sync(["src/shop/tags.py"])
    with shop.db.read() as tx:
        assert web_marks(tx, [shop.project]) == after


def test_go_packages_are_modules(sqlite_db: Db, data: Path, pool: ParserPool) -> None:
    """The files of a folder are one module, which has the edges of all of them."""
    shop = checkout_in(sqlite_db, data, pool)
    shop.write(
        {
            "go.mod": "module x.org/s\n",
            "a/one.go": 'package a\nimport "x.org/s/b"\n',
            "a/two.go": 'package a\nimport "x.org/s/c"\n',
            "b/b.go": "package b\n",
            "c/c.go": "package c\n",
        }
    )
    shop.sync()
    with shop.db.read() as tx:
        assert [one.path for one in neighbourhood(web_of(tx, shop.project), ["a"])] == ["b", "c"]


@pytest.mark.parametrize(("path", "means"), [("deploy/compose.yml", ""), ("Procfile", ""), ("x.service", "")])
def test_a_changed_manifest_is_a_reason_to_sweep(path: str, means: str) -> None:
    """The watcher has the whole checkout looked at when a file changes whose name says that it is a manifest."""
    assert concerns(path) == means
