"""List the revisions of the schema that this program knows, and run the migrations between them with Alembic."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault

if TYPE_CHECKING:
    from sqlalchemy import Engine

REVISIONS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
    "0007",
    "0008",
    "0009",
    "0010",
    "0011",
    "0012",
    "0013",
    "0014",
    "0015",
    "0016",
    "0017",
    "0018",
)
"""The migrations that this program knows, oldest first: comparing with the last one spares Alembic's import (0.4 s)."""

SCHEMA_FOLDER = Path(__file__).parents[1] / "schema"
"""Holds the layouts of new databases and the migrations; read as files, since importing the tables takes 0.4 s."""


def known_revision(place: object, revision: str) -> str:
    """Return the revision of the database at `place` as text.

    Raises DatabaseFault for that of a newer geocrawl, and for that of another program that uses Alembic."""
    if re.fullmatch("[0-9]{4}", str(revision)) is None:
        raise DatabaseFault(f"{place}: is a database of another program; name another --db")
    if revision not in REVISIONS:
        raise DatabaseFault(
            f"{place}: was written by a newer geocrawl (schema {revision}, this one knows {REVISIONS[-1]}); upgrade it"
        )
    return str(revision)


def migrate_tables(engine: Engine, to: str) -> None:
    """Run the migrations that are missing, up to the revision `to`, in one transaction, and close the engine.

    Raises DBAPIError when the database refuses one.
    """
    import logging

    from alembic import command  # its import takes 0.4 s, and a database that is up to date needs none
    from alembic.config import Config

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(SCHEMA_FOLDER / "migrations").replace("%", "%%"))
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, to)
    finally:
        engine.dispose()
