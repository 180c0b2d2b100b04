"""Run the migrations of the tables with Alembic (imported only then: 0.4 s)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config

from geocrawl.store.engine.revisions import SCHEMA_FOLDER

if TYPE_CHECKING:
    from sqlalchemy import Engine


def migrate_tables(engine: Engine, to: str) -> None:
    """Run the migrations that are missing, up to the revision `to`, in one transaction, and close the engine.

    Raises DBAPIError when the database refuses one.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(SCHEMA_FOLDER / "migrations").replace("%", "%%"))
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, to)
    finally:
        engine.dispose()
