"""How a PostgreSQL connection is made: its settings, and values that come back as SQLite gives them."""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo

CONNECT_TIMEOUT: Final = 10
"""Seconds that a server has to answer."""


class _Number(Loader):
    """``numeric`` (sums, averages) as int when it is whole, as SQLite has it."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


class _Truth(Loader):
    """``boolean`` as 0 or 1, as SQLite has it."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


def configure(connection: psycopg.Connection[Any]) -> None:
    """Values come back as SQLite gives them."""
    connection.adapters.register_loader("numeric", _Number)
    connection.adapters.register_loader("bool", _Truth)


def conninfo(url: str, busy: float) -> str:
    """``url`` with what every connection needs: a bound on waiting for locks, UTF-8, a name for the server's lists."""
    given = conninfo_to_dict(url)
    options = f"{given.get('options') or ''} -c lock_timeout={max(1, int(busy * 1000))}".strip()
    return make_conninfo(
        url,
        options=options,
        client_encoding="utf8",
        application_name=given.get("application_name") or "flywheel",
        connect_timeout=given.get("connect_timeout") or CONNECT_TIMEOUT,
    )


def place(url: str) -> str:
    """``postgres host/database``, never a password."""
    given = conninfo_to_dict(url)
    return f"postgres {given.get('host') or 'localhost'}/{given.get('dbname') or given.get('user') or ''}"
