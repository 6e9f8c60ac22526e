"""Transcripts over the socket: where one belongs, and its taking in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from flywheel.app.parts import Parts, wall_clock
from flywheel.errors import BadInput
from flywheel.harvest.uploads.home import named_project, uploads_project
from flywheel.harvest.uploads.receive import Taken, Target, receive
from flywheel.projects.queries import resolve

_KEY: Final = 255


def take_transcript(
    parts: Parts, content: Iterator[bytes], *, format: str, cwd: str, project: str, name: str, key: str
) -> str:
    """Take in a transcript; its id. Raises what `receive` raises, BadInput or NotFound for a target that is none."""
    if len(key) > _KEY:
        raise BadInput(f"an Idempotency-Key has at most {_KEY} characters", field="Idempotency-Key")
    taken = Taken(content, parts.config.http.upload_mb << 20)
    target = _target(parts, cwd, project, name)
    return receive(parts.db, parts.redact, taken, format=format, target=target, key=key, now=wall_clock)


def _target(parts: Parts, cwd: str, project: str, name: str) -> Target:
    """Where the client wants it; a named project counts more than a folder."""
    if cwd and (not cwd.startswith("/") or "\0" in cwd):
        raise BadInput("the field 'cwd' must be an absolute path", field="cwd")
    folder = os.path.normpath(cwd) if cwd else ""
    if project:
        with parts.db.read() as tx:
            found = named_project(tx, project)
    elif folder:
        found = resolve(parts.db, folder, wall_clock())
    else:
        found = uploads_project(parts.db, wall_clock())
    return Target(project=found, forced=bool(project or folder), cwd=folder, named=project, name=name)
