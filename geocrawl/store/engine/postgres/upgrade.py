"""Bring the tables of an older database up to date with Alembic (imported only then: 0.4 s)."""

from __future__ import annotations

import psycopg

from geocrawl.store.engine.postgres.connection import SCHEMA, WRITERS
from geocrawl.store.engine.postgres.faults import fault
from geocrawl.urls.database import ServerDatabase


def upgrade(server: ServerDatabase, to: str = "head") -> None:
    """Run the migrations that are missing, in one transaction that waits for its turn to write. Raises DatabaseFault
    when that fails.

    Databases of PostgreSQL begin with the schema 0015, so only later migrations run here, and they are written for both
    engines."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError

    from geocrawl.store.engine.migrations import migrate_tables

    options = f"-c search_path={SCHEMA} -c lock_timeout=0"
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(server.url, options=options))
    turn = f"SELECT pg_advisory_xact_lock({WRITERS})"
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(turn))
    try:
        migrate_tables(engine, to)
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise fault(server, error.orig) from None
        raise
