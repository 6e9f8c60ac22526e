"""A transcript on the standard input: sent as it comes, and followed until it is learned from."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, counted, escape, open_paper, size

if TYPE_CHECKING:
    from flywheel.api import Transcript

_BLOCK: Final = 256 * 1024
_SHORTEST, _LONGEST = 0.05, 0.5
_SHOWN: Final = 20
_OVER: Final = ("completed", "failed")


def take_standard_input(format: str, cwd: str, project: str, name: str, *, wait: bool, json_: bool) -> None:
    """Send it, follow it unless told not to, and say what came of it; exits with 1 when it failed."""
    client = connect()
    found = client.transcript_put(content=_blocks(), format=format, cwd=cwd, project=project, name=name)
    began = time.monotonic()
    while wait and found.state not in _OVER:
        time.sleep(min(_LONGEST, _SHORTEST + (time.monotonic() - began) / 20))
        found = client.transcript(id=found.id)
    as_json(found) if json_ else _print(found)
    if found.state == "failed":
        sys.exit(1)


def _blocks() -> Iterator[bytes]:
    while block := os.read(sys.stdin.fileno(), _BLOCK):
        yield block


def _print(found: Transcript) -> None:
    paper = open_paper()
    what = f"{size(found.bytes)}, {counted(found.messages, 'message')}, {counted(len(found.sessions), 'session')}"
    if found.state == "completed":
        paper.print(f"Imported a transcript ({what}); its id is {found.id}.")
    elif found.state == "failed":
        paper.print(f"[red]The transcript {found.id} was not imported: {escape(found.error)}[/]")
    else:
        paper.print(f"Taken in ({size(found.bytes)}) as {found.id}; it is {found.state}.")
    for page in found.pages[:_SHOWN]:
        paper.print(f"  [fw:{page.short}] {page.title} ({page.status})", markup=False)
    if len(found.pages) > _SHOWN:
        paper.print(f"  … and {len(found.pages) - _SHOWN} more")
