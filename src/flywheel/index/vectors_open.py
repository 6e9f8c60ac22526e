"""Which flavour of the vector index a store gets; each is loaded only where it is used."""

from __future__ import annotations

from pathlib import Path

from flywheel.index.vectors import FOLDER, VectorIndex, VectorWriter
from flywheel.store import Db


def open_vectors(db: Db, data: Path) -> VectorIndex:
    """The index to search in, of the flavour that suits the store. ``data`` is the data folder."""
    if db.dialect == "postgres":
        from flywheel.index.vectors_postgres import PostgresVectors

        return PostgresVectors(db)
    from flywheel.index.vectors_reader import SegmentReader

    return SegmentReader(data / FOLDER)


def open_vector_writer(db: Db, data: Path) -> VectorWriter:
    """The writer that suits the store. Raises Conflict while another process has it (SQLite)."""
    if db.dialect == "postgres":
        from flywheel.index.vectors_postgres import PostgresVectorWriter

        return PostgresVectorWriter()
    from flywheel.index.vectors_writer import SegmentWriter

    return SegmentWriter(data / FOLDER)
