"""One product behind two faces: the Api in process, and over a real socket."""

from __future__ import annotations

import http.client
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from flywheel import app
from flywheel.api import Api
from flywheel.cli.demo import demo_folder
from flywheel.client import Client, client_at
from flywheel.config import Places, parse_config
from flywheel.daemon.serve import serving
from flywheel.daemon.single import bound_socket
from flywheel.http import make_app


@dataclass(frozen=True, slots=True)
class Answered:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return orjson.loads(self.body)


def ask(path: Path, method: str, target: str, body: bytes = b"", **headers: str) -> Answered:
    """One request over the unix socket with nothing of ours in between."""
    connection = http.client.HTTPConnection("flywheel", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    try:
        connection.request(method, target, body, headers)
        found = connection.getresponse()
        return Answered(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
    finally:
        connection.close()


@contextmanager
def served(api: Api, folder: Path, *, threads: int = 4) -> Iterator[Path]:
    """Serve an Api as the daemon does; the socket's path."""
    path = folder / "f.sock"
    with bound_socket(path) as server, serving(make_app(api, threads=threads), server):
        yield path


@pytest.fixture(scope="session")
def short() -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="fw", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@dataclass(frozen=True, slots=True)
class Faces:
    """The same product twice, with the demo in it."""

    app: app.App
    client: Client
    socket: Path
    project: str  # the demo's folder
    transcripts: str

    def all(self) -> list[Api]:
        """Both."""
        return [self.app, self.client]


@pytest.fixture(scope="session")
def faces(short: Path) -> Iterator[Faces]:
    """The demo, imported in process, and served."""
    places = Places(config=short / "flywheel.toml", data=short / "data", run=short / "run")
    # what is shown here is not how fast it is, and a process that starts meanwhile would change the second answer
    config = parse_config(
        {"context": {"deadline_ms": 10_000}, "behaviour": {"deadline_ms": 10_000}, "embed": {"code": "none"}}
    )
    parts = app.open_parts(config, places, {}, short / "user")
    inside = app.App(parts)
    project, transcripts = demo_folder(places.data)
    progress = inside.import_path(path=transcripts)
    for _ in range(20):  # on a slow machine, what waits for a moment falls due meanwhile
        app.settle_all(parts, trees=True)
        if inside.import_progress(id=progress.id).done:
            break
    else:
        raise AssertionError("the import never ends")
    with served(inside, short) as path:
        yield Faces(inside, client_at(path), path, project, transcripts)
    inside.close()
    parts.close()


@pytest.fixture(params=["app", "client"])
def api(request: pytest.FixtureRequest, faces: Faces) -> Api:
    """Each face in turn."""
    return faces.app if request.param == "app" else faces.client
