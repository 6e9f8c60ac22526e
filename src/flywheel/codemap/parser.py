"""``python -m flywheel.codemap.parser``: a process that parses one file after the other and may be killed at any time.

Requests come through standard input and answers leave through standard output: each a 4-byte big-endian length and a
marshalled tuple. An empty frame says that the process is ready. The input's end ends it, and so does the death of
its parent.
"""

from __future__ import annotations

import gc
import hashlib
import marshal
import os
import re
import resource
import signal
import stat
import struct
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from flywheel.children import die_with_parent
from flywheel.codemap.captures import Import
from flywheel.codemap.definitions import Definition, parse
from flywheel.text.decoding import as_utf8

_MEMORY: Final = 4 << 30
_LENGTH: Final = struct.Struct(">I")
_COMMENTS: Final = re.compile(rb"(?:[ \t]*(?:#|//|/?\*|<!--)[^\n]*\n|\s*\n)*")
_GENERATED: Final = re.compile(rb"@generated\b|\bgenerated\b[^\n]*\bdo not (?:edit|modify)\b", re.IGNORECASE)
_HEAD: Final = 2048


class Request(NamedTuple):
    """One file to look at."""

    file: bytes  # absolute, as the system spells it
    path: str  # within the checkout
    language: str
    known: str  # the SHA-256 that is indexed already, or ""
    max_bytes: int
    given: tuple[tuple[str, str, str], ...] = ()  # `mounted.Given`: what other files say of its routers


class Answer(NamedTuple):
    """What a file is. ``state`` is that of `SourceFile`, or ``same`` (its SHA-256 is the known one), ``gone``, or
    ``denied`` (we may not read it)."""

    state: str
    sha256: str = ""
    size: int = 0
    mtime_ns: int = 0
    lines: int = 0
    names: str = ""  # used and not defined here: `naming.names_used`
    routing: str = ""  # what it says of routers: `routing.Routing`
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()


def look(request: Request) -> Answer:
    """Read and parse one file. Never follows a symbolic link, never blocks on a pipe."""
    try:
        source, size, mtime_ns = _read(request.file, request.max_bytes)
    except FileNotFoundError:
        return Answer("gone")
    except PermissionError:
        return Answer("denied")
    except OSError:
        return Answer("unreadable")
    if source is None:
        return Answer("huge" if size > request.max_bytes else "unreadable", "", size, mtime_ns)
    sha256 = hashlib.sha256(source).hexdigest()
    lines = source.count(b"\n") + (not source.endswith(b"\n") and source != b"")
    if sha256 == request.known:
        return Answer("same", sha256, size, mtime_ns, lines)
    plain = as_utf8(source)
    if why := why_not(plain, lines):
        return Answer(why, sha256, size, mtime_ns, lines)
    parsed = parse(plain, request.language, request.path, given=request.given)
    definitions, imports = tuple(parsed.definitions), tuple(parsed.imports)
    return Answer("indexed", sha256, size, mtime_ns, lines, parsed.names, parsed.routing, definitions, imports)


def why_not(source: bytes, lines: int) -> str:
    """Why this text is not worth parsing, or "": binary, generated (as its first comments say), minified."""
    head = source[:_HEAD]
    if b"\0" in head:
        return "binary"
    comments = _COMMENTS.match(head)
    if comments and _GENERATED.search(comments[0]):
        return "generated"
    if len(source) > 5000 and len(source) > 400 * lines:
        return "minified"
    return ""


def _read(file: bytes, max_bytes: int) -> tuple[bytes | None, int, int]:
    """(bytes or None when it is no regular file or too large, size, modification time in ns)."""
    number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(number)
        if not stat.S_ISREG(facts.st_mode):
            return None, 0, facts.st_mtime_ns
        if facts.st_size > max_bytes:
            return None, facts.st_size, facts.st_mtime_ns
        source = os.read(number, facts.st_size + 1)
        if len(source) != facts.st_size:  # it changes right now, or is no ordinary file system's
            source += _rest(number, max_bytes + 1 - len(source))
    finally:
        os.close(number)
    if len(source) > max_bytes:
        return None, max_bytes + 1, facts.st_mtime_ns
    return source, len(source), facts.st_mtime_ns


def _rest(number: int, left: int) -> bytes:
    """What is left of an open file, at most ``left`` bytes."""
    parts = []
    while left > 0 and (part := os.read(number, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def pack(value: tuple[object, ...]) -> bytes:
    """One frame."""
    plain: Any = tuple(value)  # marshal knows no classes
    body = marshal.dumps(plain)
    return _LENGTH.pack(len(body)) + body


def unpack_answer(body: bytes) -> Answer:
    """An answer from a frame's body."""
    *plain, definitions, imports = marshal.loads(body)
    return Answer._make((*plain, tuple(map(Definition._make, definitions)), tuple(map(Import._make, imports))))


def _plain(answer: Answer) -> tuple[object, ...]:
    """The answer without its classes, which marshal does not know."""
    definitions, imports = [tuple(d) for d in answer.definitions], [tuple(i) for i in answer.imports]
    return (*answer[:7], definitions, imports)


def main(work: Callable[[Request], Answer] = look) -> None:
    """Serve until the input ends."""
    die_with_parent()
    os.nice(19 - os.nice(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    gc.disable()  # one file's objects form no cycles
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    sink.write(_LENGTH.pack(0))
    sink.flush()
    while len(head := source.read(_LENGTH.size)) == _LENGTH.size:
        body = source.read(_LENGTH.unpack(head)[0])
        answer = work(Request._make(marshal.loads(body)))
        sink.write(pack(_plain(answer)))
        sink.flush()


if __name__ == "__main__":
    main()
