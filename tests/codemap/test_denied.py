"""What a sync does with what it may not read, and with what changes under its hands."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from tests.codemap.test_sync import Checkout, checkout_in

from flywheel.codemap.parser import Answer, Request, look
from flywheel.codemap.pool import ParserPool
from flywheel.store import Db

_VERSION = 0x20080522  # of capget(2)
_MODES_MEAN_NOTHING = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


class ByHand:
    """Parses in the thread that asks, with that thread's rights; ``meanwhile`` happens before each file is read."""

    def __init__(self, meanwhile: Callable[[str], None] = lambda path: None) -> None:
        self.meanwhile = meanwhile

    def warm(self) -> None:
        """Nothing is to be started."""

    def parse(self, requests: Sequence[Request], idle: Callable[[], None]) -> Iterator[tuple[Request, Answer]]:
        """Each file in turn."""
        for request in requests:
            self.meanwhile(request.path)
            yield request, look(request)


def shop_with(db: Db, data: Path, parsers: ByHand) -> Checkout:
    """The little shop, parsed by hand."""
    return checkout_in(db, data, cast(ParserPool, parsers))


@contextmanager
def file_modes_hold() -> Iterator[None]:
    """Takes from this thread what lets root pass file modes by; nobody else has such rights to lose."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, before = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, before) == 0
    less = (ctypes.c_uint32 * 6)(*before)
    less[0] &= ~_MODES_MEAN_NOTHING
    assert libc.capset(header, less) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


@pytest.mark.parametrize(
    ("closed", "mode", "git"),
    [
        ("src/shop", 0o000, False),
        ("src/shop", 0o100, False),
        ("src/shop", 0o400, True),
        ("src", 0o000, True),
        ("src/shop/prices.py", 0o000, False),
        ("", 0o000, False),
    ],
)
def test_what_may_not_be_read_is_not_gone(sqlite_db: Db, data: Path, closed: str, mode: int, git: bool) -> None:
    """A folder or a file loses its mode for a while: nothing is forgotten, whichever way a sync looks, and later
    changes are seen."""
    shop = shop_with(sqlite_db, data, ByHand())
    if git:
        for command in (("init", "-q"), ("add", "-A")):
            subprocess.run(("git", "-C", shop.root, *command), check=True)
    shop.sync()
    before = shop.symbols()
    place = shop.root / closed
    usual = place.stat().st_mode
    if closed.endswith(".py"):  # a file is only opened when it seems to have changed
        shop.write({closed: place.read_text() + "\ndef more(): pass\n"})
    place.chmod(mode)
    try:
        with file_modes_hold():
            with pytest.raises(PermissionError):
                (shop.root / "src/shop/prices.py").read_bytes()
                list(place.iterdir())
            shop.sync()
            shop.sync(["src/shop/prices.py", "src/shop/stock.py"])
            assert shop.symbols() == before
            assert shop.states()["src/shop/prices.py"] == "indexed"
    finally:
        place.chmod(usual)
    shop.write({"src/shop/prices.py": "def other(): pass\n"})
    (shop.root / "src/shop/stock.py").unlink()
    shop.sync()
    assert {name for name in shop.symbols() if name.startswith("src")} == {
        "src/shop/__init__.py", "src/shop/prices.py:other",
    }  # fmt: skip


def test_a_new_file_that_may_not_be_read(sqlite_db: Db, data: Path) -> None:
    """It counts as unreadable, and is read as soon as it may be."""
    shop = shop_with(sqlite_db, data, ByHand())
    (shop.root / "src/shop/prices.py").chmod(0)
    with file_modes_hold():
        shop.sync()
    assert shop.states()["src/shop/prices.py"] == "unreadable"
    (shop.root / "src/shop/prices.py").chmod(0o600)
    shop.sync()
    assert shop.states()["src/shop/prices.py"] == "indexed"


@pytest.mark.parametrize(
    "what", ["file gone", "folder gone", "all gone", "folder instead", "link instead", "rewritten"]
)
def test_what_changes_while_a_sync_runs(sqlite_db: Db, data: Path, what: str) -> None:
    """Files and folders go, or become something else, between being listed and being read: the sync ends, and the next
    one agrees with what is there."""
    parsers = ByHand()
    shop = shop_with(sqlite_db, data, parsers)
    file, folder = shop.root / "src/shop/prices.py", shop.root / "src/shop"

    def change(path: str) -> None:
        parsers.meanwhile = lambda path: None
        if what == "file gone":
            file.unlink()
        elif what in ("folder gone", "all gone"):
            shutil.rmtree(folder if what == "folder gone" else shop.root)
        elif what == "rewritten":
            file.write_text("def later(): pass\n")
        else:
            file.unlink()
            file.mkdir() if what == "folder instead" else file.symlink_to(folder / "stock.py")

    shop.sync()
    for path in ("src/shop/prices.py", "src/shop/stock.py", "src/shop/__init__.py"):
        shop.write({path: (shop.root / path).read_text() + "\nLATE = 1\n"})
    parsers.meanwhile = change
    shop.sync()
    shop.sync()
    files = (file for file in shop.root.rglob("*") if file.is_file() and not file.is_symlink())
    there = {str(file.relative_to(shop.root)) for file in files}
    assert set(shop.states()) == there
    assert set(shop.states().values()) <= {"indexed"}
    assert ("src/shop/prices.py:later" in shop.symbols()) == (what == "rewritten")
