"""The daemon's socket, and what becomes of it."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from flywheel.daemon.door import Door
from flywheel.daemon.serve import serving
from flywheel.daemon.single import bound_socket


def answer(path: Path) -> int:
    """The status of an answer at the socket."""
    connection = http.client.HTTPConnection("flywheel", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    with contextlib.closing(connection):
        connection.sock.connect(str(path))
        connection.request("GET", "/")
        return connection.getresponse().status


def test_a_deleted_socket_is_opened_anew(tmp_path: Path) -> None:
    """Somebody tidies the run folder up, with or without the folder: the daemon is reached again, and goes cleanly."""
    path = tmp_path / "run" / "f.sock"

    async def hello(request: object) -> Response:
        return Response("hello")

    application = Starlette(routes=[Route("/", hello)])

    @contextlib.contextmanager
    def answering() -> Iterator[None]:
        with bound_socket(path) as server, serving(application, server):
            yield

    with Door(path, answering) as door:
        assert not door.heal() and answer(path) == 200
        path.unlink()
        assert door.heal() and not door.heal()
        assert answer(path) == 200
        path.rename(path.parent / "aside")
        (path.parent / "aside").unlink()
        path.parent.rmdir()
        assert door.heal() and answer(path) == 200
    assert not path.exists()


def test_another_daemons_socket_stays(tmp_path: Path) -> None:
    """Who ends removes its own socket, not the one that another has put in its place."""
    path = tmp_path / "f.sock"
    with bound_socket(path):
        path.rename(tmp_path / "aside")
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
    assert path.is_socket()
