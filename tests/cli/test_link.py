"""From the command line to the daemon."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from flywheel import errors
from flywheel.cli import link
from flywheel.cli.link import connect, load_settings, start_daemon
from flywheel.client import Client
from flywheel.config import Config
from flywheel.daemon.single import single_instance, stop_process


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A FLYWHEEL_HOME without anything in it."""
    monkeypatch.setenv("FLYWHEEL_HOME", str(tmp_path))
    return tmp_path


def test_without_a_file_the_defaults_hold(home: Path) -> None:
    """And everything lies in one folder."""
    settings = load_settings()
    assert settings.config == Config() and settings.table == {}
    assert settings.places.data == home / "data"


def test_a_file_is_read_with_its_table(home: Path) -> None:
    """The parsed table is kept, for child processes."""
    (home / "flywheel.toml").write_text("[search]\nlimit = 3\n")
    settings = load_settings()
    assert settings.config.search.limit == 3 and settings.table == {"search": {"limit": 3}}


def test_asking_without_a_daemon_does_not_start_one(home: Path) -> None:
    """Where nothing is to be started, nothing is, not even a folder."""
    with pytest.raises(errors.DaemonDown):
        connect(start=False)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(("version", "start", "calls"), [("0.0.0", True, ["stop", "start"]), ("0.0.0", False, [])])
def test_a_daemon_of_another_version_is_replaced(
    version: str, start: bool, calls: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade the old one would go on for ever; whoever only looks leaves it alone."""
    called: list[str] = []
    monkeypatch.setattr(Client, "exchange", lambda *given: b'{"ok": true, "version": "%s"}' % version.encode())
    monkeypatch.setattr(link, "stop_daemon", lambda settings: called.append("stop"))
    monkeypatch.setattr(link, "start_daemon", lambda settings: called.append("start"))
    connect(start=start)
    assert called == calls


class Stub:
    """A daemon's process that ends with a code after saying something, or that never answers."""

    def __init__(self, code: int | None, said: str) -> None:
        self.code, self.said = code, said

    def __call__(self, command: list[str], *, stdout: Any, **given: object) -> Stub:
        stdout.write(self.said.encode())
        return self

    def poll(self) -> int | None:
        """As Popen's."""
        return self.code


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (2, errors.BadInput),
        (4, errors.Refused),
        (7, errors.StoreError),
        (70, errors.Defect),
        (1, errors.Unavailable),
        (-9, errors.Unavailable),
    ],
)
def test_a_daemon_that_does_not_start_says_why(
    code: int, kind: type[errors.FlywheelError], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words and its exit code become those of the command that wanted it."""
    monkeypatch.setattr(subprocess, "Popen", Stub(code, "flywheel: it is so\nand so\n"))
    with pytest.raises(errors.FlywheelError) as caught:
        start_daemon(load_settings())
    assert type(caught.value) is kind
    assert caught.value.message == "the daemon did not start: it is so\nand so"


def test_a_daemon_that_dies_in_silence_is_reported_with_its_code(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is always something to go by."""
    monkeypatch.setattr(subprocess, "Popen", Stub(-9, ""))
    with pytest.raises(errors.Unavailable, match="code -9"):
        start_daemon(load_settings())


@pytest.mark.parametrize(("code", "told"), [(None, "no daemon answers"), (5, "already runs")])
def test_a_daemon_that_never_answers(code: int | None, told: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time for it; one that found another daemon is waited for, since that one may still be starting."""
    monkeypatch.setattr(subprocess, "Popen", Stub(code, "flywheel: a daemon already runs for x (pid 7)\n"))
    monkeypatch.setattr(link, "START_SECONDS", 0.05)
    with pytest.raises(errors.Unavailable, match=told):
        start_daemon(load_settings())


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(home: Path) -> None:
    """A file in the data folder's place: named, without a traceback."""
    (home / "data").write_text("a file")
    with pytest.raises(errors.StoreError, match=r"/data.* cannot be used"):
        start_daemon(load_settings())
    with pytest.raises(errors.StoreError, match=r"/data.* cannot be used"), single_instance(home / "data"):
        pass


def test_what_is_kept_is_private(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data folder is for its owner alone, whatever the umask, and is made so where it was not."""
    monkeypatch.setattr(subprocess, "Popen", Stub(1, ""))
    with pytest.raises(errors.Unavailable):
        start_daemon(load_settings())
    assert (home / "data").stat().st_mode & 0o077 == 0
    (home / "data").chmod(0o755)
    with single_instance(home / "data"):
        assert (home / "data").stat().st_mode & 0o077 == 0


def test_stopping_waits_for_the_process() -> None:
    """A process that heeds SIGTERM is gone when it is said to be; one that does not is reported; none is no error."""
    with subprocess.Popen(["sleep", "60"]) as polite:
        assert stop_process(polite.pid, 60.0)
        assert polite.wait(60) == -15
    assert stop_process(polite.pid, 60.0)
    script = "trap '' TERM; echo; while :; do read line || exit; done"
    with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stubborn:
        assert stubborn.stdout is not None and stubborn.stdout.readline()
        assert not stop_process(stubborn.pid, 0.05)
        stubborn.kill()
