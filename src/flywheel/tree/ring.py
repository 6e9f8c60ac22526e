"""The ring of pages: each page links to the next in the order of shelves and slugs, so that none is an orphan.

Alphabetical neighbours of a shelf begin alike, so that the next page is often about the same; that every page has a
link to it from another page is what the ring is for. A page that comes or goes changes the one before it and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flywheel.model import ProjectId, Status
from flywheel.store import Tx
from flywheel.store.chunks import chunks

_ON: Final = "slug <> '' AND status <> :rejected AND redirect_to IS NULL"
_NEXT: Final = f"""
SELECT e.id, e.category, (
  SELECT n.id FROM entry n WHERE n.project_id IN :projects AND n.category = e.category AND n.slug > e.slug
  AND n.status <> :rejected AND n.redirect_to IS NULL ORDER BY n.slug LIMIT 1
) FROM entry e WHERE e.id IN :ids AND {_ON}
"""
_FIRST_PAST: Final = f"""
SELECT id FROM entry WHERE project_id IN :projects AND category > :category AND {_ON} ORDER BY category, slug LIMIT 1
"""
_LAST_OF: Final = f"""
SELECT id FROM entry WHERE project_id IN :projects AND category = :category AND slug < :slug AND {_ON}
ORDER BY slug DESC LIMIT 1
"""
_LAST_BEFORE: Final = f"""
SELECT id FROM entry WHERE project_id IN :projects AND category < :category AND {_ON}
ORDER BY category DESC, slug DESC LIMIT 1
"""
_END: Final = "\x7f"
"""Past every category."""


def following(tx: Tx, projects: Sequence[ProjectId], ids: Sequence[str]) -> Mapping[str, str]:
    """Entry → the one whose page comes next; of the only page there is none."""
    given = {"projects": projects, "rejected": Status.REJECTED.value}
    found: dict[str, str] = {}
    past: dict[str, str] = {}
    for some in chunks(ids):
        for id, category, after in tx.all(_NEXT, ids=some, **given):
            if after is None:
                if category not in past:
                    row = tx.one(_FIRST_PAST, category=category, **given) or tx.one(_FIRST_PAST, category="", **given)
                    past[category] = row[0] if row else ""
                after = past[category]
            if after and after != id:
                found[id] = after
    return found


def preceding(tx: Tx, projects: Sequence[ProjectId], places: Iterable[tuple[str, str]]) -> set[str]:
    """The entries whose pages come before these places (category, slug), whether or not a page is there."""
    given = {"projects": projects, "rejected": Status.REJECTED.value}
    found: set[str] = set()
    for category, slug in sorted(set(places)):
        row = (
            tx.one(_LAST_OF, category=category, slug=slug, **given)
            or tx.one(_LAST_BEFORE, category=category, **given)
            or tx.one(_LAST_BEFORE, category=_END, **given)
        )
        found |= {row[0]} if row else set()
    return found
