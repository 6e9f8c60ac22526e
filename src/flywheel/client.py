"""The Api over the daemon's unix socket."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import orjson

from flywheel import errors
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
from flywheel.codec import decode, encode
from flywheel.model import Micros

T = TypeVar("T")


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("flywheel", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


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
        connection = _UnixConnection(self._path, self._timeout)
        try:
            connection.request(method, path, body, {"Content-Type": kind, "Connection": "close"})
            answer = connection.getresponse()
            data = answer.read()
        except (FileNotFoundError, ConnectionRefusedError, PermissionError) as error:
            raise errors.DaemonDown(f"no daemon answers at {self._path}; start it with: flywheel daemon") from error
        except (OSError, http.client.HTTPException) as error:
            raise errors.DaemonDown(f"the daemon at {self._path} broke off: {error}") from error
        finally:
            connection.close()
        if answer.status >= 300:
            raise _error(answer.status, data)
        return data

    def _verb(self, kind: type[T], verb: str, **given: object) -> T:
        return decode(kind, self.ask("POST", f"/v1/{verb}", encode(given)))

    def context(
        self, *, cwd: str, query: str = "", agent: str = "claude", budget: int | None = None, session: str = ""
    ) -> Briefing:
        return self._verb(Briefing, "context", cwd=cwd, query=query, agent=agent, budget=budget, session=session)

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
        return self._verb(
            SearchAnswer,
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

    def why(self, *, question: str, cwd: str = "", project: str = "", limit: int = 5) -> WhyAnswer:
        return self._verb(WhyAnswer, "why", question=question, cwd=cwd, project=project, limit=limit)

    def show(self, *, id: str) -> Shown:
        return self._verb(Shown, "show", id=id)

    def status(self) -> Status:
        return self._verb(Status, "status")

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        return self._verb(ImportProgress, "import_path", path=path, agent=agent)

    def import_progress(self, *, id: str) -> ImportProgress:
        return self._verb(ImportProgress, "import_progress", id=id)

    def sync(self, *, cwd: str) -> Done:
        return self._verb(Done, "sync", cwd=cwd)

    def forget(self, *, id: str, reason: str = "") -> Done:
        return self._verb(Done, "forget", id=id, reason=reason)

    def jobs(self, *, state: str = "") -> JobList:
        return self._verb(JobList, "jobs", state=state)

    def job_retry(self, *, id: str) -> Done:
        return self._verb(Done, "job_retry", id=id)

    def job_drop(self, *, id: str) -> Done:
        return self._verb(Done, "job_drop", id=id)

    def project_explain(self, *, path: str) -> Explained:
        return self._verb(Explained, "project_explain", path=path)

    def project_merge(self, *, source: str, target: str) -> Done:
        return self._verb(Done, "project_merge", source=source, target=target)

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
