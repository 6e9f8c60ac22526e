"""The commit job: what was rendered since the last commit becomes one change set that says what and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.jobs.worker import Deps
from flywheel.model import Job, Project, ProjectId, TreeLine, short_id
from flywheel.store.mapper import get
from flywheel.tree import record
from flywheel.tree.worker import COMMIT, open_tree

KIND: Final = COMMIT
"""Job kind; the key is the project's id."""

LINES: Final = 200
"""Lines of the log that a message repeats."""

TITLE: Final = 72
"""Characters of a message's first line."""


def run(job: Job, deps: Deps) -> None:
    """Commit; running it again does nothing. Without git nothing happens."""
    with deps.db.read() as tx:
        project = get(tx, Project, id=ProjectId(job.key))
    if project is None or project.alias_of is not None:
        return
    tree = open_tree(deps, project)
    with deps.db.read() as tx:
        since = record.state(tx, project.id).get("committed", 0)
        lines = record.lines_past(tx, project.id, since)
    tree.history.commit(message_of(lines), leave=tree.speaks_secrets)
    with deps.db.write() as tx:
        record.keep_state(tx, project.id, {"committed": lines[-1].ordinal if lines else since})
    tree.history.tidy()


def message_of(lines: Sequence[TreeLine]) -> str:
    """The message of a change set: the one thing that changed, or how many did, then every line."""
    told = [_told(line) for line in lines]
    if not told:
        return "Render"
    first = f"{lines[0].action} {lines[0].path}".strip() if lines[0].path else told[0]
    more = f" and {len(told) - 1} more" if len(told) > 1 else ""
    title = f"{first[: TITLE - len(more)]}{more}"
    rest = told[:LINES] if told != [title] else []
    left = [f"and {len(told) - LINES} more"] if len(told) > LINES else []
    return "\n".join([title, *(["", *rest, *left] if rest else [])]) + "\n"


def _told(line: TreeLine) -> str:
    where = f" {line.path}" if line.path else ""
    who = f" [fw:{short_id(line.entry_id)}]" if line.entry_id else ""
    return f"{line.action}{where}{who}{f': {line.note}' if line.note else ''}"
