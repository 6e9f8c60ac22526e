"""What a person confirmed about a file, for the moment at which an agent reads or edits it."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from typing import Final

from flywheel.api import Briefing, Item, Slice
from flywheel.model import Clean, Micros, Status, new_id
from flywheel.projects import queries as projects
from flywheel.store import Db, Row
from flywheel.text.compose import dated, fixed, frame, join, neutralise
from flywheel.text.redact import Redactor
from flywheel.text.tokens import count

SOURCE: Final = "gotchas"

MOST: Final = 8
"""Entries about one file that are looked at, those confirmed last first."""

_ABOUT: Final = f"""
SELECT DISTINCT e.id, e.short, e.title, e.summary, e.last_confirmed, e.project_id
FROM anchor a JOIN entry e ON e.id = a.entry_id
WHERE a.project_id IN :projects AND a.path = :path AND a.kind IN ('symbol', 'file') AND a.note = ''
AND e.status = '{Status.CONFIRMED.value}' AND e.redirect_to IS NULL AND e.last_confirmed IS NOT NULL
ORDER BY e.last_confirmed DESC, e.id LIMIT {MOST}
"""


class Gotchas:
    """The confirmed entries that are tied to a file or to a definition in it. For any number of threads; only reads."""

    def __init__(self, db: Db, redact: Redactor, budget: int) -> None:
        """``budget``: tokens of one answer; 0 says nothing at all."""
        self._db, self._redact, self._budget = db, redact, budget

    def about(self, *, cwd: str, path: str, exclude: Collection[str], now: Micros) -> Briefing | None:
        """What is known of a file, without the entries of those ids; None when that is nothing.

        ``path`` may be relative to ``cwd``; it is compared, never opened.
        """
        root = projects.checkout(cwd) if self._budget > 0 and cwd and path else None
        if root is None:
            return None
        began = time.perf_counter()
        inside = os.path.relpath(os.path.normpath(os.path.join(cwd, path)), root)  # noqa: PTH118 - no file is touched
        with self._db.read() as tx:
            project = projects.peek(tx, cwd)
            if inside.startswith("..") or project is None:
                return None
            rows = tx.all(_ABOUT, projects=list(projects.family(tx, project.id)), path=inside)
        title = join([fixed("##"), self._redact.text(inside)])
        head = count(frame(title, project=project.name))
        packed = self._packed([row for row in rows if row[0] not in exclude], head)
        if not packed:
            return None
        items = [item for item, _ in packed]
        text = frame(join([title, *(line for _, line in packed)], "\n"), project=project.name)
        tokens = count(text)
        part = Slice(source=SOURCE, items=items, tokens=tokens, share=self._budget, left_out=len(rows) - len(items))
        return Briefing(
            id=new_id(now), project_id=project.id, project=project.name, text=text, tokens=tokens, budget=self._budget,
            slices=[part], micros=round((time.perf_counter() - began) * 1e6),
        )  # fmt: skip

    def _packed(self, rows: Collection[Row], taken: int) -> list[tuple[Item, Clean]]:
        """As many as fit, each whole with its line: with its summary, else with its title alone."""
        packed: list[tuple[Item, Clean]] = []
        for id, short, title, summary, confirmed, _ in rows:
            mark = join([fixed("(confirmed"), dated(confirmed), join([fixed("fw:"), short, fixed(")")], "")])
            for level, told in (("summary", join([title, summary], ": ")), ("title", title)):
                line = join([fixed("-"), neutralise(self._redact.text(told)), mark])
                cost = count(f"\n{line}")
                if taken + cost <= self._budget and (level == "title" or summary):
                    item = Item(kind="entry", id=id, short=short, level=level, text=line, tokens=cost)
                    packed.append((item, line))
                    taken += cost
                    break
        return packed
