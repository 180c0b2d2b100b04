"""Bring the schema of an older database up to date with Alembic (imported only then: 0.4 s)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from geocrawl.store.engine.faults import BUSY_S, fault

SCHEMA_FOLDER = Path(__file__).parents[1] / "schema"
"""Holds `schema.sql` and the migrations; read as files, since importing the tables takes 0.4 s."""


def upgrade(path: Path, to: str = "head") -> None:
    """Bring the schema up to date, in one transaction: two processes that start together do it once.

    Raises DatabaseFault when the database cannot be written.
    """
    import logging

    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(SCHEMA_FOLDER / "migrations").replace("%", "%%"))
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path, timeout=BUSY_S, isolation_level=None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, to)
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise fault(path, error.orig) from error
        raise
    finally:
        engine.dispose()
