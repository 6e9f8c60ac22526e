"""The Api over the daemon's unix socket.

Speaks its few lines of HTTP itself and loads the answers' classes when one is built: the command line's start is felt.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from flywheel import errors

if TYPE_CHECKING:
    from flywheel.api import (
        Api,
        Briefing,
        Done,
        Explained,
        ImportProgress,
        JobList,
        SearchAnswer,
        Shown,
        Status,
        WhyAnswer,
    )
    from flywheel.model import Micros


def _exchange(path: Path, seconds: float, head: str, body: bytes) -> tuple[int, bytes]:
    """One request over the socket; the answer's status and body. Raises OSError; ValueError for half an answer."""
    data = bytearray()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(str(path))
        head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        # a body that is too large is answered, and the connection reset, before it was read to its end
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(head.encode() + body)
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


class Client:
    """Every verb of `Api`, asked of the daemon at ``socket_path``.

    Raises DaemonDown when nobody answers there; any other error is the one that the daemon raised.
    """

    def __init__(self, socket_path: Path, *, timeout: float = 60.0) -> None:
        self._path = socket_path
        self._timeout = timeout

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> bytes:
        """One request; the body of a 2xx answer."""
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

        return decode(result_type(getattr(Api, verb)), self.ask("POST", f"/v1/{verb}", encode(given)))

    def context(
        self, *, cwd: str, query: str = "", agent: str = "claude", budget: int | None = None, session: str = ""
    ) -> Briefing:
        found: Briefing = self._verb("context", cwd=cwd, query=query, agent=agent, budget=budget, session=session)
        return found

    def search(
        self,
        *,
        query: str,
        cwd: str = "",
        project: str = "",
        kinds: Sequence[str] = (),
        limit: int = 10,
        everywhere: bool = False,
        since: Micros | None = None,
        until: Micros | None = None,
        statuses: Sequence[str] = (),
    ) -> SearchAnswer:
        found: SearchAnswer = self._verb(
            "search",
            query=query,
            cwd=cwd,
            project=project,
            kinds=list(kinds),
            limit=limit,
            everywhere=everywhere,
            since=since,
            until=until,
            statuses=list(statuses),
        )
        return found

    def why(self, *, question: str, cwd: str = "", project: str = "", limit: int = 5) -> WhyAnswer:
        found: WhyAnswer = self._verb("why", question=question, cwd=cwd, project=project, limit=limit)
        return found

    def show(self, *, id: str) -> Shown:
        found: Shown = self._verb("show", id=id)
        return found

    def status(self) -> Status:
        found: Status = self._verb("status")
        return found

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        found: ImportProgress = self._verb("import_path", path=path, agent=agent)
        return found

    def import_progress(self, *, id: str) -> ImportProgress:
        found: ImportProgress = self._verb("import_progress", id=id)
        return found

    def sync(self, *, cwd: str) -> Done:
        found: Done = self._verb("sync", cwd=cwd)
        return found

    def forget(self, *, id: str, reason: str = "") -> Done:
        found: Done = self._verb("forget", id=id, reason=reason)
        return found

    def jobs(self, *, state: str = "") -> JobList:
        found: JobList = self._verb("jobs", state=state)
        return found

    def job_retry(self, *, id: str) -> Done:
        found: Done = self._verb("job_retry", id=id)
        return found

    def job_drop(self, *, id: str) -> Done:
        found: Done = self._verb("job_drop", id=id)
        return found

    def project_explain(self, *, path: str) -> Explained:
        found: Explained = self._verb("project_explain", path=path)
        return found

    def project_merge(self, *, source: str, target: str) -> Done:
        found: Done = self._verb("project_merge", source=source, target=target)
        return found

    def hook(self, *, agent: str, event: str, payload: bytes) -> bytes:
        return self.ask("POST", f"/v1/hook/{agent}/{event}", payload, "application/octet-stream")


def _error(status: int, data: bytes) -> errors.FlywheelError:
    """The error that the daemon described, as its own class."""
    try:
        found = orjson.loads(data)["error"]
        kind = _classes().get(found["code"], errors.FlywheelError)
        return kind(str(found["message"]), **dict(found.get("details") or {}))
    except (ValueError, KeyError, TypeError):
        return errors.FlywheelError(f"the daemon answered {status} with something that is no error of ours")


def _proof(client: Client) -> Api:
    """Held by the type checker: the client offers every verb."""
    return client
