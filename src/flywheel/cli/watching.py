"""Following an import to its end: a bar in a terminal, patience elsewhere, and what it came to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from flywheel.cli.paper import counted, escape, size

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from flywheel.api import ImportProgress
    from flywheel.client import Client

SHORTEST, LONGEST = 0.05, 0.3
"""Seconds between two questions, at an import's start and later."""

SHOWN: Final = 10
"""Errors that are printed; more are counted."""

CHANGES_PER_JOB: Final = 500
"""Index changes that take about as long as one follow-up job."""

MEASURABLE: Final = 1_000_000
"""Bytes from which a speed says something."""


def watch_import(client: Client, progress: ImportProgress, paper: Console, *, quiet: bool) -> ImportProgress:
    """Follow an import until its files are read, what follows is done and the indexes have caught up."""
    bar = ImportBar(paper) if paper.is_terminal and not quiet and not progress.done else None
    began = time.monotonic()
    try:
        while not progress.done:
            if bar:
                bar.show(progress)
            time.sleep(min(LONGEST, SHORTEST + (time.monotonic() - began) / 20))
            progress = client.import_progress(id=progress.id)
    except KeyboardInterrupt:
        if bar:
            bar.close()
        paper.print("The import goes on in the daemon; see how far it is with: [bold]flywheel status[/]")
        raise
    finally:
        if bar:
            bar.close()
    return progress


class ImportBar:
    """Two bars: transcripts that are read, and what follows from them."""

    def __init__(self, paper: Console) -> None:
        self._bars = _bars(paper)
        self._read = self._bars.add_task("reading", total=1, note="")
        self._learn = self._bars.add_task("learning", total=None, note="", visible=False)
        self._most = 1
        self._bars.start()

    def show(self, progress: ImportProgress) -> None:
        """Draw how far it is. Follow-up work is measured against the most that was ever open."""
        note = f"{progress.files_done:,}/{counted(progress.files, 'file')} · {counted(progress.messages, 'message')}"
        if progress.bytes_done > MEASURABLE:
            note += f" · {progress.bytes_done / max(0.1, progress.seconds) / 1e6:.1f} MB/s"
        note += f" · {counted(progress.bad_lines, 'bad line')}" if progress.bad_lines else ""
        total = max(1, progress.bytes)
        read = progress.files_done == progress.files
        self._bars.update(self._read, total=total, completed=total if read else progress.bytes_done, note=note)
        follow = progress.jobs * CHANGES_PER_JOB + progress.behind
        self._most = max(self._most, follow)
        note = f"{counted(progress.jobs, 'job')} · index {progress.behind:,} behind"
        done = self._most - follow if read else 0
        self._bars.update(self._learn, visible=read, total=self._most, completed=done, note=note)

    def close(self) -> None:
        """Wipe the bars away."""
        self._bars.stop()


def _bars(paper: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description:<8}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(compact=True),
        console=paper,
        transient=True,
    )


def print_import(paper: Console, progress: ImportProgress, known: int = 0) -> None:
    """What an import came to; ``known`` bytes of it had been read before."""
    files = counted(progress.files, "transcript")
    if progress.files and progress.done and known >= progress.bytes:
        paper.print(f"Nothing new in {files} ({size(progress.bytes)}, {counted(progress.messages, 'message')}).")
    elif progress.files:
        bad = f", {counted(progress.bad_lines, 'bad line')}" if progress.bad_lines else ""
        fresh = progress.bytes - known
        speed = f", {fresh / max(0.001, progress.seconds) / 1e6:.1f} MB/s" if fresh > MEASURABLE else ""
        what = f"{files} ({size(progress.bytes)}): {counted(progress.messages, 'message')}{bad}"
        if progress.done:
            projects = counted(len(progress.projects), "project")
            paper.print(f"Imported {what}, {projects}, in {progress.seconds:.1f} s{speed}.")
        else:
            paper.print(f"Queued {files} ({size(progress.bytes)}); see how far it is with: flywheel status")
    for error in progress.errors[:SHOWN]:
        paper.print(f"  [red]{escape(error)}[/]")
    if len(progress.errors) > SHOWN:
        paper.print(f"  [red]… and {counted(len(progress.errors) - SHOWN, 'more error')}[/]")
