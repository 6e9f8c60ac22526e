"""Which store a URL means, opened and migrated."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from flywheel.errors import ConfigError
from flywheel.store import Db
from flywheel.store.sqlite_link import BUSY
from flywheel.store.sqlite_open import open_sqlite


def connect(url: str, data: Path, *, migrate: bool = True, busy: float = BUSY) -> Db:
    """The store that ``url`` names.

    "" or ``sqlite``: ``flywheel.db`` in the data folder; ``sqlite:///abs/path``; ``postgresql://user@host/database``.
    ``busy`` is how long to wait for a lock, in seconds. Raises ConfigError for any other URL, and the store's errors.
    """
    if url in ("", "sqlite"):
        return open_sqlite(data / "flywheel.db", migrate=migrate, busy=busy)
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        if parts.netloc or not parts.path.startswith("/") or parts.path.endswith("/"):
            raise ConfigError(f"store.url: a SQLite file is written sqlite:///absolute/path, not {url!r}")
        return open_sqlite(Path(unquote(parts.path)), migrate=migrate, busy=busy)
    if parts.scheme in ("postgresql", "postgres"):
        from flywheel.store.postgres_open import open_postgres  # a SQLite user never loads libpq

        return open_postgres(url, migrate=migrate, busy=busy)
    raise ConfigError(
        f"store.url: {parts.scheme or url!r} is no store; use sqlite, sqlite:///absolute/path or postgresql://..."
    )
