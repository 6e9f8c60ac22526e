"""The Api over the daemon's unix socket.

Speaks its few lines of HTTP itself and loads the answers' classes when one is built: the command line's start is felt.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from flywheel import errors

if TYPE_CHECKING:
    from flywheel.api import (
        Added,
        AgentList,
        Api,
        Briefing,
        Done,
        Explained,
        ImportProgress,
        JobList,
        Proposed,
        ReviewQueue,
        SearchAnswer,
        Shown,
        Status,
        Transcript,
        TranscriptList,
        TreeDiff,
        TreeHistory,
        TreeListing,
        TreeMatches,
        TreeText,
        WhyAnswer,
    )
    from flywheel.model import Micros


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


class Client:
    """Every verb of `Api`, asked of the daemon at ``socket_path``.

    Raises DaemonDown when nobody answers there; any other error is the one that the daemon raised.
    """

    def __init__(self, socket_path: Path, *, timeout: float = 60.0) -> None:
        self._path = socket_path
        self._timeout = timeout

    def ask(self, method: str, path: str, body: bytes | Iterator[bytes] = b"", kind: str = "application/json") -> bytes:
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

    def why(
        self, *, question: str, cwd: str = "", project: str = "", limit: int = 5, as_of: Micros | None = None
    ) -> WhyAnswer:
        found: WhyAnswer = self._verb("why", question=question, cwd=cwd, project=project, limit=limit, as_of=as_of)
        return found

    def show(self, *, id: str) -> Shown:
        found: Shown = self._verb("show", id=id)
        return found

    def status(self) -> Status:
        found: Status = self._verb("status")
        return found

    def agents(self, *, cwd: str = "") -> AgentList:
        found: AgentList = self._verb("agents", cwd=cwd)
        return found

    def standing(self) -> Done:
        found: Done = self._verb("standing")
        return found

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        found: ImportProgress = self._verb("import_path", path=path, agent=agent)
        return found

    def import_progress(self, *, id: str) -> ImportProgress:
        found: ImportProgress = self._verb("import_progress", id=id)
        return found

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
        return decode(Transcript, self.ask("POST", path, content, kind))

    def transcript(self, *, id: str) -> Transcript:
        from urllib.parse import quote

        from flywheel.api import Transcript
        from flywheel.codec import decode

        return decode(Transcript, self.ask("GET", f"/v1/transcripts/{quote(id, safe='')}"))

    def transcripts(self, *, limit: int = 50) -> TranscriptList:
        from flywheel.api import TranscriptList
        from flywheel.codec import decode

        return decode(TranscriptList, self.ask("GET", f"/v1/transcripts?limit={limit}"))

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

    def propose(
        self,
        *,
        statement: str,
        quote: str,
        cwd: str,
        source: str = "",
        type: str = "",
        scope: str = "",
        agent: str = "",
        session: str = "",
    ) -> Proposed:
        given = {"source": source, "type": type, "scope": scope, "agent": agent, "session": session}
        found: Proposed = self._verb("propose", statement=statement, quote=quote, cwd=cwd, **given)
        return found

    def add(
        self,
        *,
        cwd: str,
        path: str = "",
        text: str = "",
        name: str = "",
        kind: str = "",
        rank: str = "",
        date: str = "",
        scope: str = "",
    ) -> Added:
        given = {"name": name, "kind": kind, "rank": rank, "date": date, "scope": scope}
        found: Added = self._verb("add", cwd=cwd, path=path, text=text, **given)
        return found

    def note(self, *, text: str, cwd: str) -> Added:
        found: Added = self._verb("note", text=text, cwd=cwd)
        return found

    def review_queue(
        self, *, cwd: str = "", project: str = "", limit: int = 20, everywhere: bool = False
    ) -> ReviewQueue:
        found: ReviewQueue = self._verb("review_queue", cwd=cwd, project=project, limit=limit, everywhere=everywhere)
        return found

    def confirm(
        self,
        *,
        ids: Sequence[str],
        who: str,
        door: str,
        type: str = "",
        scope: str | None = None,
        reread: Sequence[str] = (),
        reason: str = "",
    ) -> Done:
        given = {"type": type, "scope": scope, "reread": list(reread), "reason": reason}
        return self._done("confirm", ids=list(ids), who=who, door=door, **given)

    def confirm_by_words(self, *, id: str, quote: str, session: str, agent: str) -> Done:
        return self._done("confirm_by_words", id=id, quote=quote, session=session, agent=agent)

    def told(self, *, ids: Sequence[str], agent: str, session: str) -> Done:
        return self._done("told", ids=list(ids), agent=agent, session=session)

    def reject(self, *, ids: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        return self._done("reject", ids=list(ids), who=who, door=door, reason=reason)

    def merge(self, *, ids: Sequence[str], into: str, who: str, door: str, reason: str = "") -> Done:
        return self._done("merge", ids=list(ids), into=into, who=who, door=door, reason=reason)

    def split(self, *, id: str, claims: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        return self._done("split", id=id, claims=list(claims), who=who, door=door, reason=reason)

    def defer(self, *, ids: Sequence[str], until: Micros, who: str, door: str, reason: str = "") -> Done:
        return self._done("defer", ids=list(ids), until=until, who=who, door=door, reason=reason)

    def invalidate(self, *, ids: Sequence[str], reason: str, who: str, door: str) -> Done:
        return self._done("invalidate", ids=list(ids), reason=reason, who=who, door=door)

    def supersede(self, *, old: str, new: str, who: str, door: str, reason: str = "") -> Done:
        return self._done("supersede", old=old, new=new, who=who, door=door, reason=reason)

    def revert(self, *, id: str, version: int, who: str, door: str, reason: str = "") -> Done:
        return self._done("revert", id=id, version=version, who=who, door=door, reason=reason)

    def pin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        return self._done("pin", ids=list(ids), who=who, door=door)

    def unpin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        return self._done("unpin", ids=list(ids), who=who, door=door)

    def _done(self, verb: str, **given: object) -> Done:
        found: Done = self._verb(verb, **given)
        return found

    def feedback(self, *, id: str, verdict: str, note: str = "", agent: str = "", session: str = "") -> Done:
        found: Done = self._verb("feedback", id=id, verdict=verdict, note=note, agent=agent, session=session)
        return found

    def tree_ls(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 1000) -> TreeListing:
        found: TreeListing = self._verb("tree_ls", path=path, cwd=cwd, project=project, limit=limit)
        return found

    def tree_cat(self, *, path: str, cwd: str = "", project: str = "", start: int = 1, lines: int = 2000) -> TreeText:
        given = {"path": path, "cwd": cwd, "project": project}
        found: TreeText = self._verb("tree_cat", **given, start=start, lines=lines)
        return found

    def tree_grep(
        self,
        *,
        pattern: str,
        path: str = "",
        cwd: str = "",
        project: str = "",
        ignore_case: bool = False,
        extended: bool = False,
        context: int = 0,
        limit: int = 200,
    ) -> TreeMatches:
        given = {"pattern": pattern, "path": path, "cwd": cwd, "project": project}
        found: TreeMatches = self._verb(
            "tree_grep", **given, ignore_case=ignore_case, extended=extended, context=context, limit=limit
        )
        return found

    def tree_tree(self, *, path: str = "", cwd: str = "", project: str = "", depth: int = 3) -> TreeListing:
        found: TreeListing = self._verb("tree_tree", path=path, cwd=cwd, project=project, depth=depth)
        return found

    def tree_log(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 50) -> TreeHistory:
        found: TreeHistory = self._verb("tree_log", path=path, cwd=cwd, project=project, limit=limit)
        return found

    def tree_diff(self, *, path: str = "", cwd: str = "", project: str = "", change: str = "") -> TreeDiff:
        found: TreeDiff = self._verb("tree_diff", path=path, cwd=cwd, project=project, change=change)
        return found

    def project_explain(self, *, path: str) -> Explained:
        found: Explained = self._verb("project_explain", path=path)
        return found

    def project_merge(self, *, source: str, target: str) -> Done:
        found: Done = self._verb("project_merge", source=source, target=target)
        return found

    def hook(self, *, agent: str, event: str, payload: bytes, host: str = "") -> bytes:
        kind = "application/octet-stream" + (f"\r\nX-Flywheel-Host: {host}" if host else "")
        return self.ask("POST", f"/v1/hook/{agent}/{event}", payload, kind)


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
