"""Bring the schema of an older database up to date with Alembic (imported only then: 0.4 s)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from geocrawl.store.engine.connection import BUSY_S
from geocrawl.store.engine.sqlite.faults import fault


def upgrade(path: Path, to: str = "head") -> None:
    """Bring the schema up to date, in one transaction: two processes that start together do it once.

    Raises DatabaseFault when the database cannot be written.
    """
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError

    from geocrawl.store.engine.migrations import migrate_tables

    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path, timeout=BUSY_S, isolation_level=None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        migrate_tables(engine, to)
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise fault(path, error.orig) from error
        raise
