"""Beacons: where their place is today, after everything that happens to code; and those that the code suggests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.codemap.test_sync import FIRST, SHOP, Checkout, checkout_in

from flywheel.codemap.beacon_queries import beacons_of, standing, twins_of
from flywheel.codemap.beacon_rules import Spot, elsewhere, label_of
from flywheel.codemap.following import keep_beacons
from flywheel.codemap.lighting import MADE
from flywheel.codemap.pool import ParserPool
from flywheel.codemap.rows import Place
from flywheel.codemap.sighting import seen_at
from flywheel.model import Beacon, Micros, Status
from flywheel.store import Db, mapper
from flywheel.text.called import called
from flywheel.text.compose import fixed
from flywheel.text.likeness import sketch
from flywheel.text.redact import Redactor

LIMITS = (
    '"""Limits."""\n\n\nclass RateLimiter:\n    def allow(self, key):\n        count = self.seen[key]\n'
    "        return count < self.most\n\n    def forget(self, key):\n        del self.seen[key]\n\n\n"
    "def helper(one):\n    return one + 1\n"
)


@pytest.fixture
def shop(sqlite_db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The little shop with a limiter, synced."""
    return stocked(sqlite_db, data, pool)


def stocked(db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The same on any store."""
    shop = checkout_in(db, data, pool)
    shop.write({"src/shop/limits.py": LIMITS})
    shop.sync()
    return shop


def light(shop: Checkout, path: str, qualified: str = "", kind: str = "", status: Status = Status.CONFIRMED) -> Beacon:
    """A beacon at a place that is there."""
    bare = Beacon(
        id=f"b-{path}-{qualified}", project_id=shop.project, name=fixed("The Place"), called=fixed("the place"),
        status=status, origin=fixed("user:mara via terminal"), path=path, qualified=qualified, kind=kind,
        created_at=shop.now, updated_at=shop.now,
    )  # fmt: skip
    with shop.db.write() as tx:
        spot = standing(tx, bare, [shop.project]).spot
        assert spot is not None
        beacon = seen_at(tx, bare, spot, [shop.project], shop.now, Redactor())
        mapper.upsert(tx, beacon)
    return beacon


def now_at(shop: Checkout, beacon: Beacon) -> tuple[str, str, bool]:
    """(state at read time, where the row says it is, whether the row says that it is gone)."""
    with shop.db.read() as tx:
        row = mapper.get(tx, Beacon, id=beacon.id)
        assert row is not None
        return standing(tx, row, [shop.project]).state, label_of(row), row.gone_at is not None


def rename(old: str, new: str) -> Callable[[Checkout], None]:
    """Write the limiter anew with one thing in place of another."""
    return lambda shop: shop.write({"src/shop/limits.py": LIMITS.replace(old, new)})


def move(to: str, more: str = "") -> Callable[[Checkout], None]:
    """Move the limiter's file."""

    def act(shop: Checkout) -> None:
        (shop.root / "src/shop/limits.py").unlink()
        shop.write({to: LIMITS + more})

    return act


def take_over(shop: Checkout) -> None:
    """Move only the class into another file."""
    head, _, tail = LIMITS.partition("def helper")
    shop.write({"src/shop/limits.py": f"def helper{tail}", "src/shop/rates.py": head})


def elsewhere_is(code: str) -> Callable[[Checkout], None]:
    """The class goes, and another file gets this code."""

    def act(shop: Checkout) -> None:
        shop.write({"src/shop/limits.py": "def helper(one):\n    return one + 1\n", "src/shop/rates.py": code})

    return act


EDITED = (
    "class Rates:\n    def admit(self, key):\n        count = self.seen[key]\n        assert count >= 0\n"
    "        return count < self.most\n"
)
NAMESAKE = (
    "class RateLimiter:\n    def allow(self, door, *, knocks=3):\n        for knock in range(knocks):\n"
    "            door.hit(knock)\n        return door.is_open()\n"
)


def after(*acts: Callable[[Checkout], None]) -> Callable[[Checkout], None]:
    """One act after the other."""

    def act(shop: Checkout) -> None:
        for one in acts:
            one(shop)

    return act


ALLOW = ("src/shop/limits.py", "RateLimiter.allow", "method")
CASES: dict[str, tuple[Callable[[Checkout], None], tuple[str, str, bool]]] = {
    "nothing happens": (lambda shop: None, ("here", "src/shop/limits.py:RateLimiter.allow", False)),
    "its body changes": (
        rename("count < self.most", "count <= self.most"),
        ("here", "src/shop/limits.py:RateLimiter.allow", False),
    ),
    "it is renamed, moved and edited": (elsewhere_is(EDITED), ("here", "src/shop/rates.py:Rates.admit", False)),
    "its name is taken by another thing": (
        elsewhere_is(NAMESAKE),
        ("gone", "src/shop/limits.py:RateLimiter.allow", True),
    ),
    "it is renamed": (rename("def allow(", "def admit("), ("here", "src/shop/limits.py:RateLimiter.admit", False)),
    "its file is moved": (move("src/shop/rates.py"), ("here", "src/shop/rates.py:RateLimiter.allow", False)),
    "its file is moved and others come": (
        move("lib/rates.py", "def later(): return 1\n"),
        ("here", "lib/rates.py:RateLimiter.allow", False),
    ),
    "its class is moved": (take_over, ("here", "src/shop/rates.py:RateLimiter.allow", False)),
    "its class is renamed": (
        rename("class RateLimiter", "class Limiter"),
        ("here", "src/shop/limits.py:Limiter.allow", False),
    ),
    "it is moved and changed": (
        after(take_over, lambda shop: shop.write({"src/shop/rates.py": LIMITS.replace("count <", "1 + count <")})),
        ("here", "src/shop/rates.py:RateLimiter.allow", False),
    ),
    "it is deleted": (
        rename("    def allow(self, key):\n        count = self.seen[key]\n        return count < self.most\n\n", ""),
        ("gone", "src/shop/limits.py:RateLimiter.allow", True),
    ),
    "its code is there twice afterwards": (
        after(move("a/rates.py"), lambda shop: shop.write({"b/rates.py": LIMITS})),
        ("ambiguous", "src/shop/limits.py:RateLimiter.allow", True),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_beacon_follows_its_place(name: str, shop: Checkout) -> None:
    """After the sync its row has today's place; what is gone, or may be in two places, is said to be so."""
    act, wanted = CASES[name]
    beacon = light(shop, *ALLOW)
    act(shop)
    shop.sync()
    assert now_at(shop, beacon) == wanted


def test_on_both_stores(db: Db, data: Path, pool: ParserPool) -> None:
    """Renamed, then moved, then deleted, then back: the row says what happened, since when, and recovers."""
    shop = stocked(db, data, pool)
    beacon = light(shop, *ALLOW)
    renamed = LIMITS.replace("def allow(", "def admit(")
    shop.write({"src/shop/limits.py": renamed})
    shop.sync(["src/shop/limits.py"])
    with shop.db.read() as tx:
        row = mapper.get(tx, Beacon, id=beacon.id)
    assert row is not None
    assert row.moved.startswith(
        "renamed from src/shop/limits.py:RateLimiter.allow to src/shop/limits.py:RateLimiter.admit on 2096-"
    )
    assert (row.status, row.origin, row.signature) == (beacon.status, beacon.origin, "def admit(self, key)")
    (shop.root / "src/shop/limits.py").unlink()
    shop.sync()
    assert now_at(shop, beacon) == ("gone", "src/shop/limits.py:RateLimiter.admit", True)
    shop.write({"lib/limits.py": renamed})
    shop.sync()
    assert now_at(shop, beacon) == ("here", "lib/limits.py:RateLimiter.admit", False)


def test_read_before_the_sync_wrote_it_down(shop: Checkout) -> None:
    """A row that nobody brought up to date leads to today's place all the same."""
    beacon = light(shop, *ALLOW)
    move("src/shop/rates.py")(shop)
    shop.sync()
    with shop.db.write() as tx:
        mapper.upsert(tx, beacon)
        found = standing(tx, beacon, [shop.project])
    assert found.state == "moved" and found.spot is not None
    assert found.spot.label == "src/shop/rates.py:RateLimiter.allow"


def test_a_twin_is_no_new_place(shop: Checkout) -> None:
    """When a function goes, one that looked the same all the time is not taken for it."""
    shop.write({"src/shop/copy.py": "def helper(one):\n    return one + 1\n"})
    shop.sync()
    beacon = light(shop, "src/shop/limits.py", "helper", "function")
    with shop.db.read() as tx:
        assert twins_of(tx, beacon, [shop.project]) == ["src/shop/copy.py:helper"]
    shop.write({"src/shop/limits.py": LIMITS.partition("\n\ndef helper")[0]})
    shop.sync()
    assert now_at(shop, beacon)[0] == "gone"


def test_a_beacon_of_a_file(shop: Checkout) -> None:
    """It follows a move, and a change; of a deleted file it is gone."""
    beacon = light(shop, "src/shop/stock.py")
    shop.write({"src/shop/stock.py": SHOP["src/shop/stock.py"] + "MORE = 1\n"})
    shop.sync()
    (shop.root / "src/shop/stock.py").rename(shop.root / "src/goods.py")
    shop.sync()
    assert now_at(shop, beacon) == ("here", "src/goods.py", False)
    (shop.root / "src/goods.py").unlink()
    shop.sync(["src/goods.py"])
    assert now_at(shop, beacon) == ("gone", "src/goods.py", True)


def test_another_work_tree_that_still_has_it(shop: Checkout) -> None:
    """While a work tree has the old place the row stays; who asks from the other one is led to the new place."""
    beacon = light(shop, *ALLOW)
    other = replace(shop, root=shop.root.parent / "other")
    other.write({"src/shop/limits.py": LIMITS.replace("def allow(", "def admit(")})
    other.sync()
    assert now_at(shop, beacon) == ("here", "src/shop/limits.py:RateLimiter.allow", False)
    move("src/shop/rates.py")(shop)
    shop.sync()
    assert now_at(shop, beacon) == ("here", "src/shop/rates.py:RateLimiter.allow", False)


def test_rejected_beacons_are_left_alone(shop: Checkout) -> None:
    """They neither move nor are they served."""
    beacon = light(shop, *ALLOW, status=Status.REJECTED)
    move("src/shop/rates.py")(shop)
    shop.sync()
    with shop.db.read() as tx:
        kept = mapper.get(tx, Beacon, id=beacon.id)
        assert kept is not None and (kept.path, kept.gone_at, kept.updated_at) == (beacon.path, None, beacon.updated_at)
        assert beacon.id not in {one.id for one in beacons_of(tx, [shop.project])}


def test_what_a_person_does_meanwhile_stays(shop: Checkout) -> None:
    """A beacon that is taken away while a sync looks where it went does not come back."""
    beacon = light(shop, *ALLOW)
    move("src/shop/rates.py")(shop)
    shop.sync()

    def meanwhile() -> Micros:
        with shop.db.write() as tx:
            tx.run("DELETE FROM beacon WHERE id = :id", id=beacon.id)
        return shop.now

    with shop.db.write() as tx:
        mapper.upsert(tx, beacon)
    keep_beacons(Place(shop.project, str(shop.root)), replace(shop.deps, now=meanwhile))
    with shop.db.read() as tx:
        assert mapper.get(tx, Beacon, id=beacon.id) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("def a(x):\n  return x", "def b(x):\n    return x", True),
        ("def a(x): return a(x - 1)", "def b(x): return b(x - 1)", True),
        ("def a(x): return x", "def b(x): return y", False),
        ("def a(x): return 'y z'", "def b(x): return 'y  z'", True),
    ],
)
def test_a_shape_knows_no_name(one: str, other: str, same: bool) -> None:
    """Of a definition that was only renamed or laid out anew it is the same."""
    assert (sketch(one, "T.a") == sketch(other, "T.b")) is same


def test_signs_are_weighed() -> None:
    """The same code under the same name comes before the same code, then another name, then the name alone."""
    beacon = Beacon(
        id="b", project_id=FIRST, name=fixed("x"), called=fixed("x"), status=Status.CANDIDATE, origin=fixed("x"),
        path="a.py", qualified="f", kind="function", hash="h", shape="s", created_at=Micros(1), updated_at=Micros(1),
    )  # fmt: skip
    same = Spot(checkout="/r", path="b.py", qualified="f", kind="function", hash="h")
    other = replace(same, path="c.py", qualified="g")
    shaped = replace(same, path="a.py", qualified="h", hash="x")
    named = replace(same, path="d.py", hash="y")
    shapes = {"a.py:h": "s"}
    assert elsewhere(beacon, [other, same, named], shapes).spot == same
    assert elsewhere(beacon, [other, shaped, named], shapes).spot == other
    assert elsewhere(beacon, [shaped, named], shapes).state == "renamed"
    assert elsewhere(beacon, [named], shapes).state == "moved"
    assert elsewhere(beacon, [replace(same, kind="class")], {}).state == "gone"
    crowd = elsewhere(beacon, [other, replace(other, path="e.py"), replace(other, checkout="/s")], {})
    assert crowd.state == "ambiguous" and [spot.label for spot in crowd.among] == ["c.py:g", "e.py:g"]


def proposed(shop: Checkout) -> dict[str, tuple[str, str]]:
    """Name → (place, why) of what the code suggests."""
    with shop.db.read() as tx:
        return {
            str(one.name): (label_of(one), one.origin.removeprefix(MADE))
            for one in beacons_of(tx, [shop.project])
            if one.status is Status.CANDIDATE
        }


WAYS = {
    "pyproject.toml": "[project]\nname = 'shop'\n[project.scripts]\nshop = 'shop.cli:main'\nlost = 'nowhere:main'\n",
    "src/shop/cli.py": "def main():\n    pass\n",
    "src/shop/__main__.py": "from shop.cli import main\nmain()\n",
    "Dockerfile": "CMD ['python', '-m', 'shop']\nCMD python -m shop\n",
    "Procfile": "web: node web/app.ts\n",
    "cmd/tool/main.go": "package main\nfunc main() {}\n",
    **{f"src/shop/user{n}.py": "from shop import prices\n" for n in range(5)},
}


def test_the_code_suggests_beacons(db: Db, data: Path, pool: ParserPool) -> None:
    """Scripts, main modules, containers, processes, what many import: candidates with a reason, on both stores."""
    shop = checkout_in(db, data, pool)
    shop.write(WAYS)
    shop.sync()
    found = proposed(shop)
    assert found["shop"] == ("src/shop/cli.py:main", "a script of pyproject.toml")
    assert found["container"] == ("src/shop/__main__.py", "what Dockerfile starts")
    assert found["web process"] == ("web/app.ts", "what Procfile starts")
    assert found["tool program"] == ("cmd/tool/main.go", "a main package")
    assert found["shop prices"] == ("src/shop/prices.py", "5 files import it")
    assert "lost" not in found


def test_what_most_files_use_is_suggested(db: Db, data: Path, pool: ParserPool) -> None:
    """Types and functions by a telling name that five files use; no method, no plain word, nothing of tests."""
    shop = checkout_in(db, data, pool)
    kinds = "class RateLimiter:\n    def allow_one(self): pass\n\n\ndef load_limits(): pass\n\n\ndef items(): pass\n"
    uses = "from shop.rates import RateLimiter\nRateLimiter().allow_one(load_limits(), items())\n"
    shop.write({"src/shop/rates.py": kinds, "tests/faking.py": "class FakeLimiter: pass\n"})
    shop.write({f"src/shop/u{n}.py": uses + ("" if n else "FakeLimiter\n") for n in range(4)})
    shop.sync()
    assert not {"RateLimiter", "load_limits"} & proposed(shop).keys()
    shop.write({"src/shop/u4.py": uses})
    shop.sync()
    found = {name: place for name, place in proposed(shop).items() if "use it" in place[1]}
    assert found == {
        "RateLimiter": ("src/shop/rates.py:RateLimiter", "5 files use it"),
        "load_limits": ("src/shop/rates.py:load_limits", "5 files use it"),
    }


def test_routes_and_commands_are_suggested(shop: Checkout) -> None:
    """As the frameworks name them; those of tests are not."""
    web = "from flask import Flask\napp = Flask('x')\n\n\n@app.route('/orders')\ndef orders():\n    return []\n"
    shop.write({"src/shop/web.py": web, "tests/test_web.py": web.replace("orders", "fake")})
    shop.sync()
    routes = {name: why for name, (_, why) in proposed(shop).items() if why == "a route"}
    assert len(routes) == 1 and "/orders" in next(iter(routes))


def test_proposals_follow_the_code_and_people(shop: Checkout) -> None:
    """What is no way in any more is proposed no more; what a person decided stays, and is not proposed again."""
    shop.write(WAYS)
    shop.sync()
    with shop.db.write() as tx:
        tx.run("UPDATE beacon SET status = 'confirmed' WHERE called = 'web process'")
        tx.run("UPDATE beacon SET status = 'rejected' WHERE called = 'shop'")
    (shop.root / "Dockerfile").unlink()
    (shop.root / "Procfile").unlink()
    shop.write({"src/shop/more.py": "x = 1\n"})
    shop.sync()
    found = proposed(shop)
    assert not {"container", "shop", "web process"} & set(found)
    with shop.db.read() as tx:
        kept = {str(one.name): one.status for one in beacons_of(tx, [shop.project], rejected=True)}
    assert (kept["web process"], kept["shop"]) == (Status.CONFIRMED, Status.REJECTED)


@pytest.mark.parametrize(
    ("one", "other"), [("Auth-Middleware", "auth  middleware"), ("a_b", "A b"), ("Straße", "STRASSE")]
)
def test_names_as_they_are_compared(one: str, other: str) -> None:
    """Letter case, spaces, hyphens and underscores make no other name."""
    assert called(one) == called(other)
