"""A file of the checkout as evidence: what may be read, and the document row and place that a quote has in it."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.codemap.listing import read_text
from flywheel.codemap.skipping import IGNORE_FILES, PRIVATE, Ignoring
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.harvest.quoting import find
from flywheel.harvest.rules import Quote
from flywheel.model import Clean, Document, DocumentId, Micros, ProjectId, digest, evidence_id
from flywheel.projects.queries import checkout
from flywheel.text.blocks import without_blocks
from flywheel.text.compose import span
from flywheel.text.redact import Redactor
from flywheel.text.secretfiles import looks_secret

LARGEST: Final = 512 * 1024
"""Bytes of a file that may be cited; all of it is kept."""

RANKS: Final = {"adr": 3, "runbook": 2}
"""How much each kind of document weighs; others as much as a conversation."""

_WHERE: Final = re.compile(r"(?P<path>.*?)(?::(?P<line>\d{1,7})(?:[-:]\d{1,7})?)?")
_KINDS: Final = (
    (
        "adr",
        re.compile(r"(?:^|/)(?:adrs?|decisions)/[^/]+\.(?:md|rst|txt|adoc)$|(?:^|/)adr[-_]?\d[^/]*$", re.IGNORECASE),
    ),
    ("runbook", re.compile(r"runbooks?(?:/|\b)|playbooks?/", re.IGNORECASE)),
    (
        "conventions",
        re.compile(r"(?:^|/)(?:AGENTS|CLAUDE|GEMINI|CONTRIBUTING)\.md$|\.cursorrules$|(?:^|/)\.cursor/rules/"),
    ),
    ("skill", re.compile(r"(?:^|/)SKILL\.md$")),
    ("readme", re.compile(r"(?:^|/)readme(?:\.[^/]*)?$", re.IGNORECASE)),
    ("note", re.compile(r"\.(?:md|mdx|rst|txt|adoc|org)$", re.IGNORECASE)),
)
_GIT_SECONDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A version of a file, and where a quote stands in it."""

    document: Document
    quote: Quote
    where: str  # path:line
    written_at: Micros  # when the file was last written
    rank: int


def cite(source: str, quote: str, *, cwd: str, project: ProjectId, redact: Redactor, now: Micros) -> Cited:
    """The file that ``source`` (path or path:line, from ``cwd`` or from the root of its checkout) names, and the quote.

    Nothing is written. Raises NotFound where there is no such file, Refused for one outside of the checkout, an
    ignored one or one that looks like a secret, BadInput for one that is no text or does not hold the quote.
    """
    root = checkout(cwd) or cwd
    path, line = _locate(root, cwd, source)
    written, raw = _read(root, path)
    text = redact.text(without_blocks(raw))
    place = find(text, quote, line)
    if place is None:
        raise BadInput(f"the quote does not stand word for word in {path}; copy it from the file", field="quote")
    name = redact.text(path)
    sha = digest(text)
    id = DocumentId(evidence_id("document", project, path, sha))
    document = Document(
        id=id,
        project_id=project,
        path=name,
        title=_title(text, name),
        kind=_kind(path),
        text=text,
        created_at=now,
        sha256=sha,
    )
    start, stop = place
    return Cited(
        document=document,
        quote=Quote(document_id=id, start=start, stop=stop, quote=span(text, start, stop)),
        where=f"{name}:{text.count(chr(10), 0, start) + 1}",
        written_at=Micros(min(written, now)),
        rank=RANKS.get(document.kind, 1),
    )


def _locate(root: str, cwd: str, source: str) -> tuple[str, int]:
    """The file's path below the root, and the line that was named (0: none). Raises NotFound, Refused."""
    given = source.strip()
    found = _WHERE.fullmatch(given)
    if not given or "\0" in given or "\n" in given or found is None:
        raise BadInput("the field 'source' must be a path, or path:line", field="source")
    plain, line = found["path"], int(found["line"] or 0)
    for name, number in ((given, 0), (plain, line)) if line else ((given, 0),):
        for folder in dict.fromkeys((cwd, root)):
            real = os.path.realpath(Path(folder, name))
            if real.startswith(root.rstrip("/") + "/") and os.path.isfile(real):
                relative = real[len(root.rstrip("/")) + 1 :]
                _permit(root, relative)
                return relative, number
    if not os.path.realpath(Path(cwd, plain)).startswith(root.rstrip("/") + "/"):
        raise Refused(f"{plain} lies outside of {root}; only files of the checkout can be cited")
    raise NotFound(f"there is no file {plain} in {root}", field="source")


def _permit(root: str, path: str) -> None:
    """Raises Refused for what is ignored, private or looks like a secret."""
    if not PRIVATE.isdisjoint(path.split("/")):
        raise Refused(f"{path} belongs to version control; cite a file of the project")
    if looks_secret(path):
        raise Refused(f"{path} looks like it holds secrets; it is not read")
    listed = _listed_by_git(root, path)
    ignoring = Ignoring()
    for folder in _folders(path):
        for name in IGNORE_FILES if listed is None else IGNORE_FILES[1:]:
            if text := read_text(root, f"{folder}/{name}" if folder else name):
                ignoring.add(folder, text)
    if listed is False or ignoring.ignored(path):
        raise Refused(f"{path} is ignored by this project's ignore files; it is not read")


def _folders(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[:depth]) for depth in range(len(parts) + 1))


def _listed_by_git(root: str, path: str) -> bool | None:
    """Whether git tracks the file or would; None where git knows nothing of the folder."""
    command = ("git", "-C", root, "-c", "core.fsmonitor=false", "ls-files", "-co", "--exclude-standard", "-z", "--")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            (*command, f":(literal){path}"), capture_output=True, timeout=_GIT_SECONDS, check=False,
            stdin=subprocess.DEVNULL, env={**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else os.fsencode(path) in done.stdout.split(b"\0")


def _read(root: str, path: str) -> tuple[int, str]:
    """(microseconds when it was last written, text). Raises BadInput."""
    try:
        number = os.open(f"{root}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            facts = os.fstat(file.fileno())
            raw = file.read(LARGEST + 1) if stat.S_ISREG(facts.st_mode) else b"\0"
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}", field="source") from error
    if len(raw) > LARGEST:
        raise BadInput(f"{path} is larger than {LARGEST >> 10} kB; quote what was said about it", field="source")
    try:
        if b"\0" in raw:
            raise ValueError
        return facts.st_mtime_ns // 1000, raw.decode("utf-8")
    except ValueError as error:
        raise BadInput(f"{path} is no text in UTF-8", field="source") from error


def _kind(path: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(path)), "code")


def _title(text: Clean, path: Clean) -> Clean:
    """A heading in the first lines, or the path."""
    found = re.match(r"\s{0,20}#\s+(\S.{0,110})", text)
    return span(text, found.start(1), found.end(1)) if found and path.endswith((".md", ".mdx")) else path
