"""The command line as a whole: its help, its exit codes, and what it loads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from flywheel import __version__, cli, errors
from flywheel.cli import COMMANDS, main


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of a command in this process."""
    monkeypatch.setattr(sys, "argv", ["flywheel", *words])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def paths(group: click.Group, before: Sequence[str] = ()) -> list[list[str]]:
    """Every command with its sub-commands."""
    found: list[list[str]] = []
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None and command.name == name
        found.append([*before, name])
        if isinstance(command, click.Group):
            found += paths(command, [*before, name])
    return found


@pytest.mark.parametrize("words", [[], *paths(cli.cli)], ids=" ".join)
def test_every_command_explains_itself(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--help` of each: what it does, and each option with a text."""
    assert run(monkeypatch, *words, "--help") == 0
    told = capsys.readouterr().out
    assert told.startswith(f"Usage: flywheel {' '.join(words)}".rstrip())
    options = [line.strip() for line in told.splitlines() if line.startswith("  -")]
    assert options and all("  " in option for option in options), told


def test_the_overview_fits_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command's line is a whole sentence within 80 columns."""
    assert run(monkeypatch, "--help") == 0
    told = capsys.readouterr().out
    lines = [line for line in told.split("Commands:")[1].splitlines() if line]
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") and len(line) <= 80 for line in lines), told


@pytest.mark.parametrize("words", [words for words in paths(cli.cli) if len(words) == 1], ids=" ".join)
def test_the_overview_of_a_group_is_whole_sentences(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a group's commands do is said in 80 columns without being cut off."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch, *words, "--help") == 0
    lines = [line for line in capsys.readouterr().out.partition("Commands:")[2].splitlines() if line]
    assert all(line.endswith(".") and not line.endswith("...") for line in lines), lines


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["tree", "--project", "shop", "ls"], "flywheel tree ls"),
        (["habits", "--project", "shop", "lint"], "flywheel habits lint"),
        (["models", "--json", "test"], "flywheel models test"),
    ],
    ids=["tree", "habits", "models"],
)
def test_an_option_before_a_sub_command_is_refused(
    words: list[str], meant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be lost there, and another project answer than the one that was named."""
    assert run(monkeypatch, *words) == 2
    assert f"options go behind the command: {meant} ..." in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_our_signs_is_no_traceback(encoding: str) -> None:
    """What the encoding of the output has no sign for is printed as a question mark."""
    code = "import click, flywheel.cli as c; c.cli.add_command(click.Command('x', callback=lambda: print('“a”…')));"
    code += "c.Commands.get_command = lambda self, ctx, name: self.commands[name]; c.main()"
    env = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", code, "x"], env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"?a??\n", b"")


def test_it_says_its_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """By both names."""
    for word in ("--version", "-V"):
        assert run(monkeypatch, word) == 0
        assert capsys.readouterr().out == f"flywheel, version {__version__}\n"


@pytest.mark.parametrize(("word", "meant"), [("serch", "search"), ("stauts", "status"), ("xyzzy", "")])
def test_a_mistyped_command_gets_the_one_that_was_meant(
    word: str, meant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2 on stderr; a guess only where there is one."""
    assert run(monkeypatch, word) == 2
    told = capsys.readouterr()
    assert told.out == "" and word in told.err
    assert ("Did you mean" in told.err) == bool(meant) and meant in told.err


def tree(kind: type[errors.FlywheelError] = errors.FlywheelError) -> list[type[errors.FlywheelError]]:
    """Every class of error."""
    return [kind, *(below for child in kind.__subclasses__() for below in tree(child))]


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_an_error_is_a_line_and_an_exit_code(
    kind: type[errors.FlywheelError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, without a traceback; standard output stays empty, for whoever reads it."""

    def broken() -> object:
        raise kind("it is so")

    monkeypatch.setattr("flywheel.cli.keep.load_settings", broken)
    assert run(monkeypatch, "config", "path") == kind.exit_code
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "flywheel: it is so\n")


def test_ctrl_c_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 130, as shells expect."""

    def interrupted() -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("flywheel.cli.keep.load_settings", interrupted)
    assert run(monkeypatch, "config", "path") == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`flywheel config show | head -1`: nothing on stderr."""
    command = f"'{sys.executable}' -m flywheel.cli config show | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert done.stdout.startswith(b"#") and done.stderr == b""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_starts_quickly(command: str) -> None:
    """What asks the daemon loads none of the daemon's parts; colours and bars are loaded when they are drawn."""
    heavy = ("rich", "numpy", "tantivy", "apsw", "psycopg", "uvicorn", "starlette", "apscheduler", "watchdog")
    mine = ("flywheel.app", "flywheel.store", "flywheel.index", "flywheel.search", "flywheel.harvest")
    code = f"import sys; from flywheel.cli import cli; cli.get_command(None, {command!r}); print(*sys.modules)"
    env = os.environ | {"PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=True)
    loaded = done.stdout.decode().split()
    assert [name for name in loaded if name.split(".")[0] in heavy or name.startswith(mine)] == []
