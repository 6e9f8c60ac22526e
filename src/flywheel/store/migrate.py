"""Migrations: forward only, under a lock, hash-checked, backed up first; a newer database is refused.

A migration is ``NNNN_name.sql`` (portable) followed by ``NNNN_name.<dialect>.sql`` (a pair, or neither).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.errors import Defect, NewerDatabase, StoreError
from flywheel.model import Micros
from flywheel.resources import resource_dir
from flywheel.store import Tx
from flywheel.store.feed import new_feed

DIALECTS: Final = ("sqlite", "postgres")

TABLE: Final = """
CREATE TABLE IF NOT EXISTS schema_migration (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL
)
"""

_NAME: Final = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)(?:\.(?P<dialect>sqlite|postgres))?\.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the schema for one dialect."""

    version: int
    name: str
    script: str

    @property
    def sha256(self) -> str:
        """Of the script, so that a changed file is noticed."""
        return hashlib.sha256(self.script.encode()).hexdigest()


def load(dialect: str, folder: Path | None = None) -> Sequence[Migration]:
    """The migrations of a dialect in order. Raises Defect when a file is misnamed, missing or without its pair."""
    folder = folder or resource_dir("migrations")
    parts: dict[tuple[int, str], dict[str, str]] = {}
    for path in sorted(folder.glob("*.sql")):
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise Defect(f"{path.name} is no name for a migration")
        files = parts.setdefault((int(match["version"]), match["name"]), {})
        files[match["dialect"] or ""] = path.read_text(encoding="utf-8")
    if [version for version, _ in parts] != list(range(1, len(parts) + 1)):
        raise Defect("migrations must be numbered from 0001 without gaps")
    for (version, name), files in parts.items():
        if len([which for which in DIALECTS if which in files]) == 1:
            raise Defect(f"migration {version:04d}_{name} is written for one dialect only")
    return [
        Migration(version=version, name=name, script=files.get("", "") + "\n" + files.get(dialect, ""))
        for (version, name), files in parts.items()
    ]


def pending(applied: Sequence[tuple[int, str, str]], known: Sequence[Migration]) -> Sequence[Migration]:
    """What is still to apply, given (version, name, sha256) of what was.

    Raises NewerDatabase when the database knows more than this program, StoreError when a script has changed since.
    """
    newest = max((version for version, _, _ in applied), default=0)
    if newest > len(known):
        raise NewerDatabase(
            f"the database is at version {newest}, this Flywheel knows {len(known)}: upgrade Flywheel, "
            "or point store.url elsewhere",
            found=newest,
            known=len(known),
        )
    for version, name, sha256 in applied:
        if known[version - 1].sha256 != sha256:
            raise StoreError(
                f"migration {version:04d}_{name} is not the one that made this database: reinstall the Flywheel "
                "that did, or point store.url elsewhere"
            )
    return known[newest:]


def apply(tx: Tx, steps: Sequence[Migration], script: Callable[[str], None], now: Micros) -> None:
    """Run the steps within ``tx``; ``script`` runs many statements at once. The first step makes the feed's id."""
    for step in steps:
        script(step.script)
        tx.run(
            "INSERT INTO schema_migration (version, name, sha256, applied_at) VALUES (:version, :name, :sha256, :now)",
            version=step.version,
            name=step.name,
            sha256=step.sha256,
            now=now,
        )
        if step.version == 1:
            new_feed(tx)
