"""The verbs ``add`` and ``note``: a document or a few words, taken in as evidence with what they state."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.api import Added
from flywheel.app.parts import Parts, wall_clock
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.knowledge import filing, formats, heads, worker
from flywheel.knowledge.documents import About, day_of, understand
from flywheel.knowledge.filing import Filed
from flywheel.knowledge.formats import Readable
from flywheel.knowledge.scopes import normal_scope
from flywheel.knowledge.subject_pages import Sheet
from flywheel.model import Clean, Document, Micros, ProjectId, digest, short_id
from flywheel.projects import queries as projects
from flywheel.text.blocks import without_blocks
from flywheel.text.compose import dated, is_injected
from flywheel.text.redact import Redactor
from flywheel.text.secretfiles import looks_secret

AT_ONCE: Final = 16_000
"""Characters of a text whose statements are read while one waits; a longer one's are read by a worker."""

SECRETS: Final = 3
"""Secrets in a document past which it is refused when they stand in a fifth of its lines."""

_KEY_BLOCK: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_REDACTED: Final = re.compile(r"\[redacted:[a-z0-9-]+\]")
_SLUG: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """What is added: the name that it is kept under, its bytes, and when its file was written."""

    name: str
    data: bytes
    written: Micros | None = None


def add(
    parts: Parts, *, cwd: str, path: str, text: str, name: str, kind: str, rank: str, date: str, scope: str
) -> Added:
    """Take it in. ``cwd`` is a real path. Raises as `Api.add`."""
    if bool(path) is bool(text.strip()):
        raise BadInput("name a file (path) or give a text, one of them", field="path")
    now = wall_clock()
    given = _given_date(date)
    project = projects.resolve(parts.db, cwd, now).id
    if path:
        source = _file(parts, project, cwd, path, now)
        if isinstance(source, Added):
            return source
    else:
        source = _Source(name=name.strip() or _note_name(text, given or now), data=_checked(text).encode())
    found = _redacted(parts.redact, source, formats.readable(source.name, source.data))
    named = source.name if path or name.strip() else ""
    about = understand(named, found, kind=kind.strip().lower(), date=given, file_time=source.written, now=now)
    limited = parts.redact.text(normal_scope(scope))
    sheet = _sheet(parts, project, source.name, about, found, limited, _rank(parts, rank, about), now)
    return _file_sheet(parts, sheet, now)


def take_in(parts: Parts, project: ProjectId, name: str, data: bytes, written: Micros) -> Added:
    """Take in a file that lies in no checkout, under a name. Raises BadInput, Refused."""
    if looks_secret(name):
        raise Refused(f"{name} looks like it holds secrets; it is not read")
    now = wall_clock()
    found = _redacted(parts.redact, _Source(name=name, data=data, written=written), formats.readable(name, data))
    about = understand(name, found, file_time=written, now=now)
    rank = int(parts.config.knowledge.ranks[about.rank])
    sheet = _sheet(parts, project, name, about, found, parts.redact.text(""), rank, now)
    return _file_sheet(parts, sheet, now)


def _given_date(date: str) -> Micros | None:
    if not date.strip():
        return None
    found = day_of(date)
    if found is None:
        raise BadInput(f"the field 'date' must be a day like 2026-05-01; it is {date[:40]!r}", field="date")
    return found


def _rank(parts: Parts, given: str, about: About) -> int:
    ranks = parts.config.knowledge.ranks
    word = given.strip().lower()
    if not word:
        return int(ranks[about.rank])
    if word in ranks:
        return int(ranks[word])
    if word.isdigit() and int(word) <= 100:
        return int(word)
    raise BadInput(f"the field 'rank' must be a number or one of {', '.join(ranks)}; it is {given!r}", field="rank")


def _checked(text: str) -> str:
    if is_injected(text):
        raise BadInput("the text holds an answer of Flywheel's own, which proves nothing", field="text")
    return text


def _note_name(text: str, at: Micros) -> str:
    """Where a text without a name is kept: by day and first words."""
    slug = _SLUG.sub("-", " ".join(text.lower().split()[:6])).strip("-")[:40] or "note"
    return f"notes/{dated(at)}-{slug}-{digest(text)[:8]}.md"


def _file(parts: Parts, project: ProjectId, cwd: str, path: str, now: Micros) -> _Source | Added:
    """The file, or what became of one that is gone. Raises NotFound, Refused, BadInput."""
    real = os.path.realpath(Path(cwd, Path(path).expanduser()))
    name = _kept_as(parts, cwd, real)
    if looks_secret(path) or looks_secret(real):
        raise Refused(f"{path} looks like it holds secrets; it is not read")
    try:
        if not stat.S_ISREG(Path(real).stat().st_mode):
            raise BadInput(f"{path} is no file; add the files in it", field="path")
        number = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            facts = os.fstat(file.fileno())
            data = file.read(formats.LONGEST + 1) if stat.S_ISREG(facts.st_mode) else b"\0"
    except (FileNotFoundError, NotADirectoryError):
        return _gone(parts, project, name, now)
    except OSError as error:  # who may not look cannot say that it is gone
        raise BadInput(f"{path} cannot be read: {error.strerror or error}", field="path") from error
    return _Source(name=name, data=data, written=Micros(facts.st_mtime_ns // 1000))


def _kept_as(parts: Parts, cwd: str, real: str) -> str:
    """The path within the checkout, else from the user's home, else as it is."""
    for root, front in ((projects.checkout(cwd) or cwd, ""), (str(parts.home), "~/")):
        if real.startswith(root.rstrip("/") + "/"):
            return front + real[len(root.rstrip("/")) + 1 :]
    return real


def _gone(parts: Parts, project: ProjectId, name: str, now: Micros) -> Added:
    with parts.db.write() as tx:
        resting = heads.gone(tx, project, parts.redact.text(name), now)
    if resting is None:
        raise NotFound(f"there is no file {name}", field="path")
    plural = "s rest" if resting != 1 else " rests"
    return Added(
        id="",
        short="",
        path=name,
        title=name,
        kind="",
        rank=0,
        said_at=now,
        dated_by="",
        version="gone",
        statements=0,
        counts={"claims": resting},
        message=f"{name} is gone; {resting} claim{plural} on its last version, which is marked. Nothing was deleted.",
    )


def _redacted(redact: Redactor, source: _Source, found: Readable) -> Readable:
    """Without secrets, and without what Flywheel wrote into the file itself, which is no evidence; lines keep their
    numbers.

    Raises Refused for a document that is mostly secrets, or holds a private key.
    """
    if _KEY_BLOCK.search(found.text):
        raise Refused(f"{source.name} holds a private key; it is not kept")
    top, rest = redact.text(found.text[: found.begins]), redact.text(without_blocks(found.text[found.begins :]))
    secrets = len(_REDACTED.findall(top + rest)) - len(_REDACTED.findall(found.text))
    if secrets > SECRETS and 5 * secrets > len([line for line in found.text.splitlines() if line.strip()]):
        raise Refused(f"{source.name} holds {secrets} secrets; take them out, then add it")
    head = {key: str(redact.text(value)) for key, value in found.head.items()}
    return Readable(text=top + rest, begins=len(top), head=head, talk=found.talk)


def _sheet(
    parts: Parts,
    project: ProjectId,
    name: str,
    about: About,
    found: Readable,
    scope: Clean,
    rank: int,
    now: Micros,
) -> Sheet:
    clean = parts.redact.text
    text, path = clean(found.text), clean(name)
    own = str(about.said_at) if about.dated_by == "given" else ""
    usual = int(parts.config.knowledge.ranks[about.rank])
    sha = digest(text)
    id = heads.document_id(project, path, sha, own, scope, str(rank) if rank != usual else "")
    document = Document(
        id=id,
        project_id=project,
        path=path,
        title=clean(about.title),
        kind=about.kind,
        text=text,
        created_at=now,
        sha256=sha,
        rank=rank,
        said_at=about.said_at,
    )
    return Sheet(document=document, about=about, found=found, scope=scope, rank=rank)


def _file_sheet(parts: Parts, sheet: Sheet, now: Micros) -> Added:
    """Keep the version; read its statements now, or have them read."""
    later = len(sheet.document.text) > AT_ONCE
    with parts.db.write() as tx:
        version = heads.keep(tx, sheet.document, now)
        if later:
            worker.enqueue(tx, sheet, now)
    filed = Filed() if later else filing.file_statements(parts.db, sheet, now)
    filed.version = version
    message = filing.told_of(filed, sheet)
    if later:
        message = f"{message.split('). ')[0]}). Its statements are being read."
    document, about = sheet.document, sheet.about
    return Added(
        id=document.id,
        short=short_id(document.id),
        path=document.path,
        title=document.title,
        kind=about.kind,
        rank=sheet.rank,
        said_at=about.said_at,
        dated_by=about.dated_by,
        version=version,
        statements=filed.statements,
        counts=filing.counts(filed),
        pending=later,
        message=message,
    )
