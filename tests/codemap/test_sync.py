"""Bringing a checkout's code map up to date: what is written, what is left alone, what the change feed hears."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from flywheel.codemap import queries, weighing, worker
from flywheel.codemap.pool import ParserPool
from flywheel.codemap.sync import Report
from flywheel.codemap.worker import enqueue_sync, sync_checkout
from flywheel.config import CodeConfig, Config
from flywheel.jobs import queue
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import Clean, Job, Micros, ModuleEdge, Op, Project, ProjectId, Seq, SourceFile, Symbol
from flywheel.store import Db, mapper
from flywheel.text.redact import Redactor

FIRST, SECOND = ProjectId("p1"), ProjectId("p2")
START = Seq(0)
NOW = Micros(4_000_000_000_000_000)
SHOP = {
    "src/shop/__init__.py": '"""Sells things."""\n',
    "src/shop/prices.py": (
        "from shop.stock import Shelf\nimport json\n\ndef price(a):\n    return a\n\n"
        "class Tag:\n    def show(self): pass\n"
    ),
    "src/shop/stock.py": '"""What is there."""\nfrom . import lost\n\nclass Shelf:\n    """Holds things."""\n',
    "web/app.ts": "import { b } from './b';\nexport function app() {}\n",
    "web/b.ts": "export const b = () => 1;\n",
}


@dataclass
class Checkout:
    """A checkout under test, with its store, its parsers and a clock that moves a minute with each sync."""

    db: Db
    data: Path
    root: Path
    pool: ParserPool
    project: ProjectId = FIRST
    now: Micros = NOW
    config: Config = field(default_factory=Config)
    stopping: bool = False
    beats: list[str] = field(default_factory=list)
    seen: Seq = START

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files; each write has a time stamp of its own."""
        for path, text in files.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
            self.now = Micros(self.now + 1)
            os.utime(file, ns=(0, (self.now - 3_600_000_000) * 1000))

    @property
    def deps(self) -> Deps:
        """What a job may use."""
        return Deps(
            db=self.db, config=self.config, data=self.data, redact=Redactor(), now=lambda: self.now,
            stopping=lambda: self.stopping, beat=self.beats.append,
        )  # fmt: skip

    def sync(self, paths: Sequence[str] | None = None) -> Report:
        """One sync, a minute later, and the weighing that it asks for."""
        self.now = Micros(self.now + 60_000_000)
        report = sync_checkout(str(self.root), self.project, self.deps, self.pool, paths)
        with self.db.write() as tx:
            asked = mapper.find(tx, Job, "WHERE kind = :kind", kind=weighing.KIND)
            tx.run("DELETE FROM job WHERE kind = :kind", kind=weighing.KIND)
        for job in asked:
            weighing.run(job, self.deps)
        return report

    def symbols(self) -> dict[str, Symbol]:
        """``path:qualified`` → symbol; the files' own symbols as ``path``."""
        with self.db.read() as tx:
            found = mapper.find(tx, Symbol)
        return {item.path if item.kind == "module" else f"{item.path}:{item.qualified}": item for item in found}

    def edges(self) -> dict[str, list[str]]:
        """Source → targets, external ones in brackets."""
        with self.db.read() as tx:
            found = mapper.find(tx, ModuleEdge, "ORDER BY source, target")
        edges: dict[str, list[str]] = {}
        for edge in found:
            edges.setdefault(edge.source, []).append(f"({edge.target})" if edge.external else edge.target)
        return edges

    def files(self) -> dict[str, SourceFile]:
        """Path → row."""
        with self.db.read() as tx:
            return {item.path: item for item in mapper.find(tx, SourceFile)}

    def states(self) -> dict[str, str]:
        """Path → state."""
        return {path: item.state for path, item in self.files().items()}

    def heard(self) -> list[tuple[str, Op]]:
        """What the change feed has heard since the last time: name of the symbol, or its id when it is gone."""
        head = self.db.head()
        with self.db.read() as tx:
            names = {item.id: f"{item.path}:{item.qualified}" for item in mapper.find(tx, Symbol)}
        changes = [(names.get(change.id, "gone"), change.op) for change in self.db.changes(self.seen)]
        self.seen = head
        return sorted(changes)


def checkout_in(db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The little shop, with its project."""
    checkout = Checkout(db, data, data.parent / "shop", pool)
    checkout.write(SHOP)
    with db.write() as tx:
        for id in ("p1", "p2"):
            mapper.insert(tx, Project(id=ProjectId(id), key=Clean(id), name=Clean(id), root=Clean(""), created_at=NOW))
    return checkout


@pytest.fixture
def shop(sqlite_db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The little shop on SQLite."""
    return checkout_in(sqlite_db, data, pool)


def test_first_sync(db: Db, data: Path, pool: ParserPool) -> None:
    """On both stores: symbols, files, edges, changes; the second time nothing at all is written."""
    shop = checkout_in(db, data, pool)
    report = shop.sync()
    assert report.states == Counter(indexed=5)
    symbols = shop.symbols()
    assert set(symbols) == {
        "src/shop/__init__.py", "src/shop/prices.py:price", "src/shop/prices.py:Tag", "src/shop/prices.py:Tag.show",
        "src/shop/stock.py", "src/shop/stock.py:Shelf", "web/app.ts:app", "web/b.ts:b",
    }  # fmt: skip
    shelf = symbols["src/shop/stock.py:Shelf"]
    assert (shelf.signature, shelf.doc, shelf.start_line, shelf.stop_line) == ("class Shelf", "Holds things.", 4, 5)
    assert shelf.project_id == "p1"
    assert shop.edges() == {
        "src/shop/prices.py": ["(json)", "src/shop/stock.py"],
        "src/shop/stock.py": ["src/shop/__init__.py"],
        "web/app.ts": ["web/b.ts"],
    }
    row = shop.files()["web/b.ts"]
    assert (row.language, row.state, row.lines, row.size) == ("typescript", "indexed", 1, 26)
    assert {op for _, op in shop.heard()} == {Op.PUT}
    before = shop.files()
    assert shop.sync().states == Counter()
    assert shop.heard() == []
    assert shop.files() == before


def test_a_changed_function_and_its_neighbours(shop: Checkout) -> None:
    """A new body is one change; the functions below it move by a line, which changes rows but tells nobody."""
    shop.sync()
    shop.heard()
    before = shop.symbols()
    text = SHOP["src/shop/prices.py"].replace("    return a\n", "    a += 1\n    return a\n")
    shop.write({"src/shop/prices.py": text})
    report = shop.sync()
    assert (report.states, report.symbols, report.dropped) == (Counter(indexed=1), 1, 0)
    assert shop.heard() == [("src/shop/prices.py:price", Op.PUT)]
    after = shop.symbols()
    assert after["src/shop/prices.py:Tag"].start_line == before["src/shop/prices.py:Tag"].start_line + 1
    assert after["src/shop/prices.py:Tag"].hash == before["src/shop/prices.py:Tag"].hash


def test_reformatting_is_no_change(shop: Checkout) -> None:
    """Comments and blank lines move symbols; nothing is told to the indexes."""
    shop.sync()
    shop.heard()
    shop.write({"src/shop/prices.py": "\n\n" + SHOP["src/shop/prices.py"].replace("return a", "return  a  # so")})
    shop.sync()
    assert shop.heard() == []
    assert shop.symbols()["src/shop/prices.py:price"].start_line == 6


def test_a_new_time_on_old_bytes(shop: Checkout) -> None:
    """A checkout of the same content costs no parse: the hash knows it, and the new time is remembered."""
    shop.sync()
    shop.heard()
    shop.write(SHOP)
    assert shop.sync().states == Counter(same=5)
    assert shop.sync().states == Counter()
    assert shop.heard() == []


def test_a_deleted_symbol_file_and_edge(shop: Checkout) -> None:
    """What goes from a file goes from the store, with a change that says so; so does what a deleted file held."""
    shop.sync()
    shop.heard()
    shop.write({"src/shop/prices.py": "def price(a):\n    return a\n"})
    (shop.root / "web/b.ts").unlink()
    report = shop.sync()
    assert (report.removed, report.dropped) == (1, 3)
    assert shop.heard() == [("gone", Op.DEL)] * 3
    assert "web/b.ts" not in shop.files()
    assert shop.edges() == {"src/shop/stock.py": ["src/shop/__init__.py"], "web/app.ts": ["(./web/b)"]}


def test_imports_are_followed_when_files_come_and_go(shop: Checkout) -> None:
    """An import that led nowhere leads to the file once it is there, and back again; its own file is the same."""
    shop.sync()
    shop.write({"src/shop/lost.py": "x = 1\n", "json.py": "y = 1\n"})
    shop.sync()
    assert shop.edges()["src/shop/stock.py"] == ["src/shop/lost.py"]
    (shop.root / "src/shop/lost.py").unlink()
    shop.sync(["src/shop/lost.py"])
    assert shop.edges()["src/shop/stock.py"] == ["src/shop/__init__.py"]


def test_packages_and_includes_are_followed_when_files_come_and_go(shop: Checkout) -> None:
    """So do classes, packages, includes and modules: to the file or folder once it is there, and back afterwards."""
    shop.write({
        "j/org/shop/Basket.java": "import org.shop.stock.Shelf;\nimport org.shop.tax.*;\nclass Basket {}\n",
        "c/basket.c": '#include "shop/basket.h"\nint total(void) { return 1; }\n',
        "infra/main.tf": 'module "net" {\n  source = "./modules/net"\n}\n',
        "Sources/Shop/main.swift": "import ShopTax\nfunc run() {}\n",
    })  # fmt: skip
    shop.sync()
    before = shop.edges()
    assert before["j/org/shop/Basket.java"] == ["(org.shop.stock.Shelf)", "(org.shop.tax)"]
    assert before["infra/main.tf"] == ["(./infra/modules/net)"]
    shop.write({
        "j/org/shop/stock/Shelf.java": "class Shelf {}\n",
        "j/org/shop/tax/Rate.java": "class Rate {}\n",
        "c/include/shop/basket.h": "int total(void);\n",
        "infra/modules/net/main.tf": 'variable "cidr" {}\n',
        "Sources/ShopTax/Rate.swift": "struct Rate {}\n",
    })  # fmt: skip
    shop.sync()
    after = shop.edges()
    assert after["j/org/shop/Basket.java"] == ["j/org/shop/stock/Shelf.java", "j/org/shop/tax"]
    assert after["c/basket.c"] == ["c/include/shop/basket.h"]
    assert after["infra/main.tf"] == ["infra/modules/net"]
    assert after["Sources/Shop/main.swift"] == ["Sources/ShopTax"]
    for path in ("j/org/shop/stock/Shelf.java", "j/org/shop/tax/Rate.java", "c/include/shop/basket.h",
                 "infra/modules/net/main.tf", "Sources/ShopTax/Rate.swift"):  # fmt: skip
        (shop.root / path).unlink()
    shop.sync()
    assert shop.edges() == before


def test_landmarks_are_found_and_are_no_part_of_the_map(shop: Checkout) -> None:
    """Headings and keys are symbols, their values are not shown, and the map counts source files alone."""
    shop.write({
        "README.md": "# Shop\n\nSells.\n\n## Install\n", "app.yaml": "password: hunter2hunter2\nweb:\n  port: 1\n",
    })  # fmt: skip
    shop.sync()
    symbols = shop.symbols()
    assert symbols["README.md:Shop.Install"].kind == "heading"
    assert symbols["app.yaml:password"].signature == "password"
    with shop.db.read() as tx:
        drawn = queries.topology(tx, [FIRST])
    assert (drawn.files, dict(drawn.languages)) == (5, {"python": 3, "typescript": 2})


def test_a_moved_file(shop: Checkout) -> None:
    """A file that moved is known by its bytes; its symbols follow it."""
    shop.sync()
    shop.heard()
    (shop.root / "src/shop/stock.py").rename(shop.root / "src/shop/store.py")
    report = shop.sync()
    assert (report.moved, report.removed) == (1, 1)
    assert "src/shop/store.py:Shelf" in shop.symbols()
    assert "src/shop/stock.py:Shelf" not in shop.symbols()
    assert shop.edges()["src/shop/prices.py"] == ["(json)", "src/shop/__init__.py"]


def test_one_changed_path(shop: Checkout) -> None:
    """With paths named, only these are looked at: what else changed waits for the sweep."""
    shop.sync()
    shop.heard()
    shop.write(
        {"src/shop/prices.py": "def other(): pass\n", "web/b.ts": "export function c() {}\n", "new.go": "package n\n"}
    )
    report = shop.sync(["src/shop/prices.py", "new.go", "../outside.py", "README.md"])
    assert report.states == Counter(indexed=2)
    assert "src/shop/prices.py:other" in shop.symbols()
    assert "web/b.ts:c" not in shop.symbols()
    assert shop.states()["new.go"] == "indexed"
    assert shop.sync().states == Counter(indexed=1)


def test_a_path_that_is_gone(shop: Checkout) -> None:
    """A deleted path among the named ones removes its rows."""
    shop.sync()
    (shop.root / "web/b.ts").unlink()
    assert shop.sync(["web/b.ts"]).removed == 1
    assert "web/b.ts" not in shop.states()


def test_skipped_files_are_counted_by_reason(shop: Checkout) -> None:
    """Each kind of skipped file has its state, and none has symbols."""
    shop.write({
        "huge.py": "def f(): pass\n" * 100_000, "a_pb2.py": "def f(): pass\n", "nul.py": b"x\0y", "long.js": "a" * 9000,
        "gen.go": "// Code generated by x. DO NOT EDIT.\npackage x\nfunc F() {}\n", "node_modules/a/i.js": "f()",
        "latin.py": "def k\xe4se(): 'caf\xe9'\n".encode("latin-1"), "broken.py": "def ok(): pass\n\nclass (:\n",
    })  # fmt: skip
    shop.sync()
    states = shop.states()
    assert {path: states[path] for path in states if path not in SHOP} == {
        "huge.py": "huge", "a_pb2.py": "generated", "nul.py": "binary", "long.js": "minified", "gen.go": "generated",
        "node_modules/": "vendored", "latin.py": "indexed", "broken.py": "indexed",
    }  # fmt: skip
    with shop.db.read() as tx:
        assert queries.states(tx, [shop.project]) == Counter(states.values())
    assert {path for path in shop.symbols() if path.split(":")[0] not in SHOP} == {"broken.py:ok", "latin.py:käse"}
    assert shop.sync().states == Counter()


def test_a_raised_limit_lets_files_in(shop: Checkout) -> None:
    """Huge files are looked at again when the setting changes, and skipped again when it changes back."""
    shop.write({"big.py": "def f(): pass\n" * 200})
    shop.config = replace(shop.config, code=CodeConfig(max_file_kb=1))
    shop.sync()
    assert shop.states()["big.py"] == "huge"
    shop.config = Config()
    shop.sync()
    assert shop.states()["big.py"] == "indexed"
    shop.config = replace(shop.config, code=CodeConfig(max_file_kb=1))
    shop.sync()
    assert shop.states()["big.py"] == "huge"
    assert not [name for name in shop.symbols() if name.startswith("big.py")]


def test_a_file_changed_within_the_same_time_stamp(shop: Checkout) -> None:
    """Written again right after it was read, with the same size and time: found all the same."""
    shop.sync()
    file = shop.root / "web/b.ts"
    shop.write({"web/b.ts": SHOP["web/b.ts"]})
    facts = file.stat()
    stamp = (shop.now + 60_000_000) * 1000
    os.utime(file, ns=(0, stamp))
    shop.sync()
    file.write_text(SHOP["web/b.ts"].replace("b =", "d ="))
    assert file.stat().st_size == facts.st_size
    os.utime(file, ns=(0, stamp))
    shop.sync()
    assert "web/b.ts:d" in shop.symbols()


def test_a_checkout_that_is_gone(shop: Checkout) -> None:
    """Everything of a deleted checkout goes; nothing is raised."""
    shop.sync()
    shop.root.rename(shop.root.parent / "elsewhere")
    shop.sync()
    assert (shop.files(), shop.symbols(), shop.edges()) == ({}, {}, {})


def test_two_checkouts_of_one_project(shop: Checkout) -> None:
    """Two work trees have their own rows; the sync of one never touches the other's."""
    shop.sync()
    other = replace(shop, root=shop.root.parent / "other")
    other.write({"only.py": "def f(): pass\n"})
    other.sync()
    assert {"only.py", *SHOP} == set(shop.files())
    (other.root / "only.py").unlink()
    other.sync()
    assert set(shop.files()) == set(SHOP)


def test_another_project(shop: Checkout) -> None:
    """A checkout that turns out to be of another project moves there, and the feed hears both."""
    shop.sync()
    shop.heard()
    shop.project = SECOND
    shop.sync()
    assert {item.project_id for item in shop.symbols().values()} == {"p2"}
    assert {item.project_id for item in shop.files().values()} == {"p2"}
    with shop.db.read() as tx:
        assert queries.symbols_named(tx, [FIRST], ["Shelf"]) == []
        assert queries.topology(tx, [FIRST]).files == 0
    shop.project = FIRST
    shop.sync(["web/b.ts"])
    assert {item.project_id for item in shop.files().values()} == {"p1"}
    assert set(shop.files()) == set(SHOP)


def test_secrets_do_not_reach_the_store(shop: Checkout) -> None:
    """Signatures and documentation are redacted, in a file with a secret as in its neighbours."""
    key = "ghp_" + "a1B2" * 9
    shop.write(
        {"keys.py": f'TOKEN = "{key}"\n\ndef use(token="{key}"):\n    """Sends {key}."""\n\ndef fine(a=1): "Fine."\n'}
    )
    shop.sync()
    symbols = shop.symbols()
    assert key not in str(symbols)
    assert "[redacted:" in symbols["keys.py:use"].signature
    assert "[redacted:" in symbols["keys.py:use"].doc
    assert (symbols["keys.py:fine"].signature, symbols["keys.py:fine"].doc) == ("def fine(a=1)", "Fine.")
    shop.heard()
    shop.write({"keys.py": (shop.root / "keys.py").read_text() + "\n"})
    shop.sync()
    assert shop.heard() == []


def test_a_file_with_thousands_of_symbols(shop: Checkout) -> None:
    """It is written in several short transactions, whole in the end, and taken away the same way."""
    shop.write({"many.py": "".join(f"def f{number}(): return {number}\n" for number in range(5000))})
    shop.sync()
    assert len(shop.symbols()) == 8 + 5000
    shop.write({"many.py": "def f7(): return 7\n"})
    assert shop.sync().dropped == 4999
    assert len(shop.symbols()) == 8 + 1


def test_stopping_half_way(shop: Checkout) -> None:
    """Told to stop, a sync gives its job back; the next one does the rest and nothing twice."""
    shop.sync()
    shop.write({f"f{number}.py": f"def f{number}(): pass\n" for number in range(150)})
    shop.stopping = True
    with pytest.raises(Stopped):
        shop.sync()
    done = len(shop.files())
    assert 5 < done < 155
    shop.stopping = False
    assert shop.sync().states == Counter(indexed=155 - done)


def test_a_hanging_parser(shop: Checkout) -> None:
    """A file that hangs the parser is marked; the others are indexed; it is not tried again until it changes."""
    hostile = (
        "import os, time\nfrom flywheel.codemap.parser import main, look\n"
        "def work(request):\n    while b'web/b.ts' in request.file: pass\n    return look(request)\nmain(work)\n"
    )
    shop.pool = ParserPool(2, 1.0, (sys.executable, "-c", hostile))
    try:
        report = shop.sync()
        assert report.states == Counter(indexed=4, timeout=1)
        assert shop.states()["web/b.ts"] == "timeout"
        assert shop.sync().states == Counter()
    finally:
        shop.pool.close()


def test_another_version_of_the_code_map(shop: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the queries change, everything is parsed anew, by the next sync of any kind, and only once."""
    shop.sync()
    monkeypatch.setattr(worker, "fingerprint", lambda: "another")
    assert shop.sync(["web/b.ts"]).states == Counter(indexed=5)
    assert shop.sync().states == Counter()
    assert shop.sync(["web/b.ts"]).states == Counter()


def test_as_a_job(shop: Checkout) -> None:
    """Through the queue: the worker finds the project by itself, and paths add up while they wait."""
    root = str(shop.root)
    with shop.db.write() as tx:
        enqueue_sync(tx, checkout=root, project_id=shop.project, now=shop.db.clock(), paths=["a.py"])
        enqueue_sync(tx, checkout=root, project_id=shop.project, now=shop.db.clock(), paths=["b.py"])
    job = queue.claim(shop.db, kinds=[worker.KIND], owner="t", lease=60)
    assert job is not None and dict(job.payload) == {"paths": ["a.py", "b.py"]}
    worker.run(job, shop.deps)
    assert set(shop.files()) == set(SHOP)
    assert queue.settle(shop.db, job)


def test_a_waiting_sweep_stays_a_sweep(shop: Checkout) -> None:
    """Changed paths never narrow a sweep that waits already, and very many of them make one."""
    with shop.db.write() as tx:
        enqueue_sync(tx, checkout="/x", project_id=shop.project, now=NOW)
        enqueue_sync(tx, checkout="/x", project_id=shop.project, now=NOW, paths=["a.py"])
        enqueue_sync(tx, checkout="/y", project_id=shop.project, now=NOW, paths=[f"{n}.py" for n in range(999)])
    with shop.db.read() as tx:
        assert [dict(job.payload) for job in queue.listing(tx)] == [{}, {}]


def test_finding_symbols(shop: Checkout) -> None:
    """By name, by qualified name, by file; within the projects that are named only."""
    shop.sync()
    with shop.db.read() as tx:
        ids = [shop.project]
        assert [item.qualified for item in queries.symbols_named(tx, ids, ["show"])] == ["Tag.show"]
        assert [item.qualified for item in queries.symbols_named(tx, ids, ["Tag.show", "price"])] == [
            "price",
            "Tag.show",
        ]
        assert queries.symbols_named(tx, ids, ["Other.show", "pri"]) == []
        assert queries.symbols_named(tx, [SECOND], ["show"]) == []
        assert queries.symbols_named(tx, [], ["show"]) == []
        found = queries.symbols_in(tx, ids, ["src/shop/prices.py"])
        assert [item.name for item in found] == ["price", "Tag", "show"]
        shown = queries.topology(tx, ids, near=["src/shop/prices.py"])
        assert [folder.path for folder in shown.folders] == ["src/shop", "web"]
        assert shown.folders[0].doc == "Sells things."
        assert queries.topology(tx, []).files == 0


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_what_windows_writes_is_read(shop: Checkout, encoding: str) -> None:
    """A byte order mark says what a file is in; signature, documentation and lines are as in any other."""
    shop.write({"wide.py": '\ufeffdef größe(a):\r\n    """How tall."""\r\n    return ask(a)\r\n'.encode(encoding)})
    shop.sync()
    found = shop.symbols()["wide.py:größe"]
    assert (found.signature, found.doc, found.start_line, found.stop_line) == ("def größe(a)", "How tall.", 1, 3)
