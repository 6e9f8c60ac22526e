"""One daemon per data folder, and its socket."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from flywheel.daemon.single import bound_socket, daemon_pid, single_instance
from flywheel.errors import ConfigError, Conflict, Refused


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="fw") as name:
        yield Path(name)


def test_a_second_daemon_is_refused_and_told_who_runs(tmp_path: Path) -> None:
    """Two daemons on one data folder: the second gets the pid of the first and what to do."""
    code = (
        "import sys; from pathlib import Path; from flywheel.daemon.single import single_instance\n"
        "with single_instance(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None and first.stdin is not None
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(Conflict, match=f"pid {first.pid}.*flywheel down"), single_instance(tmp_path):
            pass
        assert daemon_pid(tmp_path) == first.pid
        first.kill()
    assert daemon_pid(tmp_path) is None
    with single_instance(tmp_path):
        assert daemon_pid(tmp_path) == os.getpid()


def test_a_folder_that_was_moved_away_is_noticed(tmp_path: Path) -> None:
    """Also when another one, with a lock of its own, stands in its place; and not once it is back."""
    data, aside = tmp_path / "data", tmp_path / "aside"
    with single_instance(data) as holds:
        assert holds()
        data.rename(aside)
        assert not holds()
        with single_instance(data) as other:
            assert other() and not holds()
        (data / "daemon.lock").unlink()
        data.rmdir()
        aside.rename(data)
        assert holds()


def test_the_socket_is_for_its_owner_alone(short: Path) -> None:
    """Mode 0600 in a folder of mode 0700, and gone afterwards."""
    path = short / "run" / "s.sock"
    with bound_socket(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


def test_a_stale_socket_is_replaced(short: Path) -> None:
    """A socket file that a killed daemon left does not stand in the way."""
    path = short / "s.sock"
    old = socket.socket(socket.AF_UNIX)
    old.bind(str(path))
    old.close()
    assert path.exists()
    with bound_socket(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_a_file_in_the_way_is_kept(short: Path) -> None:
    """Something that is no socket is not deleted; the error names it."""
    path = short / "s.sock"
    path.write_text("precious")
    with pytest.raises(Refused, match="in the way"), bound_socket(path):
        pass
    assert path.read_text() == "precious"


def test_a_socket_path_too_long_says_what_to_set(short: Path) -> None:
    """The error has both lengths and the setting."""
    path = short / ("x" * 120) / "s.sock"
    with pytest.raises(ConfigError, match=r"more than the 107 .*\[daemon\] socket"), bound_socket(path):
        pass
