"""Errors and commands that pages speak of: looked for in the code, and checked at each sync."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.knowledge.claiming import House
from tests.knowledge.coding import Code

from flywheel.codemap.pool import ParserPool
from flywheel.knowledge.spoken_rules import is_test, phrases, ways_of
from flywheel.model import Status
from flywheel.text.makefiles import targets_in

PLANS = """\
class PlanError(Exception):
    pass


def choose(name: str, most: int) -> str:
    if not name:
        raise PlanError(f"no plan is left for {name!r} within {most} seats")
    return name
"""
ERROR = "PlanError: no plan is left for 'gold' within 3 seats"


@pytest.fixture
def code(house: House, tmp_path: Path, pool: ParserPool) -> Code:
    """A checkout with a module that raises, and every sort of thing that defines a command."""
    root = tmp_path / "shop"
    root.mkdir()
    made = Code(house, root, pool)
    made.write("src/plans.py", PLANS)
    made.write("Makefile", "check: fmt\n\tpytest\nfmt lint:\n\truff check\n")
    made.write("package.json", '{"scripts": {"build": "vite build", "test": "vitest"}}\n')
    made.write("pyproject.toml", '[project.scripts]\nshopctl = "shop.cli:main"\n')
    made.write(
        "src/cli.py", "import click\n\n@cli.command()\ndef sell(): ...\n\n@cli.command('give-back')\ndef back(): ...\n"
    )
    made.write("tools/seed.sh", "echo seed\n")
    made.write("bin/release", "#!/bin/sh\n")
    made.sync()
    return made


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("ValueError: unknown plan", "unknown plan"),
        ("KeyError: 'plan'", None),
        ("ValueError: too few", None),
        ("PlanError: no plan is left for 'gold' within 3 seats", "no plan is left for"),
        ("RuntimeError: cannot open /srv/a.db: it is locked by 4711", "it is locked by"),
        ("a.b.LimitError: rate limit of 5 reached, try again later", "try again later"),
    ],
)
def test_of_a_message_only_what_code_may_spell_is_looked_for(message: str, first: str | None) -> None:
    """Quoted values, numbers and paths are filled in; too few words are anywhere."""
    assert next(iter(phrases(message)), None) == first


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("make check -j 4 V=1", "make  check"),
        ("cd web && CI=1 npm run build -- --watch", "script web build"),
        ("make -C tools all", "make tools all"),
        ("npm test", "script  test"),
        ("yarn lint:fix", "script  lint:fix"),
        ("just deploy prod", "just  deploy"),
        ("uv run shopctl sell --all", "entry  shopctl sell"),
        ("bash tools/seed.sh now", "file  tools/seed.sh"),
        ("./bin/release 1.2", "file  bin/release"),
        ("python -m shop.cli", "file  shop/cli/__main__.py"),
        ("php artisan mail:send 1", "task  mail:send"),
        ("bundle exec rake db:seed[x]", "task  seed"),
        ("cat /etc/hosts", "entry  cat"),
        ("bash /usr/local/x.sh", None),
        ("", None),
    ],
)
def test_a_command_says_what_would_define_it(command: str, key: str | None) -> None:
    """By who runs it; folders, flags and what is set before it are no part of its name."""
    ways = ways_of(command)
    assert (ways[0].key if ways else None) == key


def test_targets_are_read_as_make_and_just_read_them() -> None:
    """Several before one colon; no assignments, patterns and special targets; included files make it unsure."""
    text = "A := 1\nB = x:y\n.PHONY: all\nall lint: dep\n\tx: y\n%.o: %.c\nbuild/out.js :: a\n# no: comment\n"
    assert targets_in("make", text) == ({"all", "lint", "build/out.js"}, True)
    assert targets_in("make", "include other.mk\nall:\n") == ({"all"}, False)
    text = "set shell := ['sh']\nx := 'a:b'\ndeploy env='a:b' *rest: build\n@build:\n  echo a: b\nalias d := deploy\n"
    assert targets_in("just", text) == ({"deploy", "build", "d"}, True)


@pytest.mark.parametrize("path", ["tests/a.py", "src/test_a.py", "web/a.spec.ts", "x/a_test.go"])
def test_what_tests_the_code_says_nothing_of_its_own(path: str) -> None:
    """A test that still expects a message does not keep it."""
    assert is_test(path) and not is_test("src/latest/contest.py")


def test_an_error_is_tied_to_the_file_that_says_it_and_stale_when_none_does(code: Code) -> None:
    """Gone makes stale with the words; back takes it back; elsewhere in the code is no change."""
    entry = code.page(f"When all are taken, `{ERROR}` is raised.", confirmed=False)
    tied = code.anchors(entry)[ERROR]
    assert (tied.kind, tied.target, tied.signature) == ("error", "src/plans.py", "no plan is left for")
    code.change("src/plans.py", ("no plan is left for", "every plan is taken for"))
    code.write("tests/test_plans.py", "EXPECTED = 'no plan is left for'\n")
    code.sync(["src/plans.py", "tests/test_plans.py"])
    stale = code.house.read(entry.id)
    assert stale.status is Status.STALE
    assert stale.stale_reason.rpartition(" on ")[0] == "src/plans.py no longer says “no plan is left for”"
    code.sync()
    assert code.house.read(entry.id) == stale
    code.write("src/words.py", "LEFT = 'no plan is left for {}'\n")
    code.sync(["src/words.py"])
    back = code.house.read(entry.id)
    assert (back.status, back.stale_reason) == (Status.CANDIDATE, "")
    assert code.anchors(entry)[ERROR].target == "src/words.py"
    code.change("src/plans.py", ("every plan is taken for", "no plan is left for"))
    code.write("src/words.py", None)
    code.sync()
    assert code.house.read(entry.id).status is Status.CANDIDATE
    assert code.anchors(entry)[ERROR].target == "src/plans.py"


def test_an_error_that_nothing_says_is_tied_when_code_comes_that_does(code: Code) -> None:
    """Only files that changed since are read for it; a message of somebody else's library never makes stale."""
    other = "OSError: the disk behind the queue is full"
    entry = code.page(f"It was `{other}` that stopped us.")
    assert code.anchors(entry)[other].target == ""
    code.write("src/disk.py", "def full():\n    raise OSError('the disk behind the queue is full')\n")
    code.sync(["src/disk.py"])
    assert code.anchors(entry)[other].target == "src/disk.py"
    assert code.house.read(entry.id).status is Status.CONFIRMED


COMMANDS = [
    pytest.param("make lint", "Makefile", ("fmt lint:", "fmt:"), "Makefile no longer defines “make lint”", id="make"),
    pytest.param("npm run build", "package.json", ('"build"', '"bundle"'),
                 "package.json no longer defines “npm run build”", id="npm"),
    pytest.param("shopctl give-back --all", "src/cli.py", ("'give-back'", "'take-back'"),
                 "src/cli.py no longer defines “shopctl give-back --all”", id="click"),
    pytest.param("shopctl --version", "pyproject.toml", ("shopctl", "shopper"),
                 "pyproject.toml no longer defines “shopctl --version”", id="script"),
    pytest.param("bash tools/seed.sh", "tools/seed.sh", None, "tools/seed.sh was deleted", id="file"),
    pytest.param("./bin/release 1.2", "bin/release", None, "bin/release was deleted", id="no source file"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "path", "swap", "reason"), COMMANDS)
def test_a_command_is_tied_to_what_defines_it_and_stale_when_that_is_gone(
    code: Code, command: str, path: str, swap: tuple[str, str] | None, reason: str
) -> None:
    """Whatever else changes in that file; back is back; a person who confirms it lets it go."""
    entry = code.page(f"Run `{command}` first.", confirmed=False)
    firm = code.page(f"Run `{command}` last.", name="firm")
    assert code.anchors(entry)[command].target == path
    text = (code.root / path).read_text()
    code.write(path, text + "\n")
    code.sync()
    assert code.house.read(entry.id).status is Status.CANDIDATE
    code.write(path, text.replace(*swap) if swap else None)
    code.sync()
    stale = code.house.read(entry.id)
    assert stale.status is Status.STALE and stale.stale_reason.rpartition(" on ")[0] == reason
    code.confirm(firm, path)
    assert code.house.read(firm.id).status is Status.CONFIRMED and code.anchors(firm)[command].target == ""
    code.write(path, text)
    code.sync()
    assert code.house.read(entry.id).status is Status.CANDIDATE
    assert code.anchors(firm)[command].target == path


def test_what_a_page_says_to_run_counts_without_quotes(code: Code) -> None:
    """Compiled lines repeat a command in its normal form."""
    entry = code.page("Before every commit we always run `make lint -q` because CI refuses otherwise.", confirmed=False)
    (command,) = (one for one in code.anchors(entry).values() if one.kind == "command")
    assert (command.name, command.target) == ("make lint -q", "Makefile")


def test_what_nobody_here_defines_never_makes_stale(code: Code) -> None:
    """Commands of the system, a target that a makefile may include, a folder outside of the checkout."""
    code.write("Makefile", "include more.mk\nall:\n")
    code.sync()
    entry = code.page("`git push`, `make deploy now`, `bash ../x.sh`, `make all -k`: in this order.")
    assert {name: one.target for name, one in code.anchors(entry).items() if one.target} == {"make all -k": "Makefile"}
    code.write("Makefile", "include more.mk\nmost:\n")
    code.sync()
    assert code.house.read(entry.id).status is Status.CONFIRMED


def test_a_sync_that_changes_nothing_asks_for_nothing(code: Code) -> None:
    """Whoever only reads writes nothing: no job, though pages are tied to files that no index has."""
    code.page("Run `make lint` and `./bin/release 1`.")
    code.sync()
    assert code.sync() == 0
