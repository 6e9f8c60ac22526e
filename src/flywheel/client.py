"""The Api over the daemon's unix socket.

Speaks its few lines of HTTP itself and loads the answers' classes when one is built: the command line's start is felt.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from flywheel import errors

if TYPE_CHECKING:
    from flywheel.api import Api, Transcript, TranscriptList

    Verbs = Api
else:

    class Verbs:
        """Every verb of the `Api`, which says what each takes and gives, is forwarded as it is."""

        def __getattr__(self, name: str) -> Callable[..., Any]:
            from flywheel.api import Api

            if name.startswith("_") or not hasattr(Api, name):
                raise AttributeError(name)
            return lambda **given: self._verb(name, **given)


def _exchange(path: Path, seconds: float, head: str, body: bytes | Iterator[bytes]) -> tuple[int, bytes]:
    """One request over the socket; the answer's status and body. Raises OSError; ValueError for half an answer."""
    data = bytearray()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(str(path))
        length = f"Content-Length: {len(body)}" if isinstance(body, bytes) else "Transfer-Encoding: chunked"
        head += f"{length}\r\nConnection: close\r\n\r\n"
        # a body that is too large is answered, and the connection reset, before it was read to its end
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if isinstance(body, bytes):
                connection.sendall(head.encode() + body)
            else:
                connection.sendall(head.encode())
                for part in body:
                    if part:
                        connection.sendall(b"%x\r\n%b\r\n" % (len(part), part))
                connection.sendall(b"0\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(1 << 16):
                data += part
    lines, _, rest = bytes(data).partition(b"\r\n\r\n")
    first, *fields = lines.lower().split(b"\r\n")
    lengths = [field[15:].strip() for field in fields if field.startswith(b"content-length:")]
    if not first.startswith(b"http/1.1 ") or len(lengths) != 1 or len(rest) < int(lengths[0]):
        raise ValueError("the answer was cut off")
    return int(first[9:12]), rest[: int(lengths[0])]


def _classes() -> Mapping[str, type[errors.FlywheelError]]:
    found: dict[str, type[errors.FlywheelError]] = {}
    todo: list[type[errors.FlywheelError]] = [errors.FlywheelError]
    while todo:
        kind = todo.pop()
        found[kind.code] = kind
        todo += kind.__subclasses__()
    return found


class Client(Verbs):
    """Every verb of `Api`, asked of the daemon at ``socket_path``; made by `client_at`.

    Raises DaemonDown when nobody answers there; any other error is the one that the daemon raised.
    """

    def __init__(self, socket_path: Path, *, timeout: float = 60.0) -> None:
        self._path = socket_path
        self._timeout = timeout

    def exchange(
        self, method: str, path: str, body: bytes | Iterator[bytes] = b"", kind: str = "application/json"
    ) -> bytes:
        """One request; the body of a 2xx answer. A body that comes piece by piece is sent as it comes."""
        head = f"{method} {path} HTTP/1.1\r\nHost: flywheel\r\nContent-Type: {kind}\r\n"
        try:
            status, data = _exchange(self._path, self._timeout, head, body)
        except (FileNotFoundError, ConnectionRefusedError, PermissionError) as error:
            raise errors.DaemonDown(f"no daemon answers at {self._path}; start it with: flywheel up") from error
        except (OSError, ValueError) as error:
            raise errors.DaemonDown(f"the daemon at {self._path} broke off: {error}") from error
        if status >= 300:
            raise _error(status, data)
        return data

    def _verb(self, verb: str, **given: object) -> Any:
        from flywheel.api import Api
        from flywheel.codec import decode, encode, result_type

        return decode(result_type(getattr(Api, verb)), self.exchange("POST", f"/v1/{verb}", encode(given)))

    def transcript_put(
        self,
        *,
        content: Iterator[bytes],
        format: str = "",
        cwd: str = "",
        project: str = "",
        name: str = "",
        key: str = "",
    ) -> Transcript:
        from urllib.parse import urlencode

        from flywheel.api import Transcript
        from flywheel.codec import decode

        given = {"format": format or "auto", "cwd": cwd, "project": project, "name": name}
        path = f"/v1/transcripts?{urlencode({field: value for field, value in given.items() if value})}"
        if key and not (key.isprintable() and key.isascii()):
            raise errors.BadInput("an Idempotency-Key is printable ASCII", field="Idempotency-Key")
        kind = "application/octet-stream" + (f"\r\nIdempotency-Key: {key}" if key else "")
        return decode(Transcript, self.exchange("POST", path, content, kind))

    def transcript(self, *, id: str) -> Transcript:
        from urllib.parse import quote

        from flywheel.api import Transcript
        from flywheel.codec import decode

        return decode(Transcript, self.exchange("GET", f"/v1/transcripts/{quote(id, safe='')}"))

    def transcripts(self, *, limit: int = 50) -> TranscriptList:
        from flywheel.api import TranscriptList
        from flywheel.codec import decode

        return decode(TranscriptList, self.exchange("GET", f"/v1/transcripts?limit={limit}"))

    def hook(self, *, agent: str, event: str, payload: bytes, host: str = "") -> bytes:
        kind = "application/octet-stream" + (f"\r\nX-Flywheel-Host: {host}" if host else "")
        return self.exchange("POST", f"/v1/hook/{agent}/{event}", payload, kind)


def client_at(socket_path: Path, *, timeout: float = 60.0) -> Client:
    """A client of the daemon at this socket; ``timeout`` in seconds."""
    return Client(socket_path, timeout=timeout)  # type: ignore[abstract]  # the other verbs are forwarded


def _error(status: int, data: bytes) -> errors.FlywheelError:
    """The error that the daemon described, as its own class."""
    try:
        found = orjson.loads(data)["error"]
        kind = _classes().get(found["code"], errors.FlywheelError)
        return kind(str(found["message"]), **dict(found.get("details") or {}))
    except (ValueError, KeyError, TypeError):
        return errors.FlywheelError(f"the daemon answered {status} with something that is no error of ours")
