"""List the revisions of the schema that this program knows, and run the migrations between them with Alembic."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault

if TYPE_CHECKING:
    from sqlalchemy import Engine

REVISIONS = (
    "0028",
    "0033",
    "0034",
    "0035",
    "0036",
    "0037",
    "0038",
    "0039",
    "0040",
    "0041",
    "0042",
    "0043",
    "0044",
    "0045",
)
"""The revisions of the schema that this program knows, oldest first: databases of others are refused."""
_UPGRADES_OLDER = "0504a682"
"""The commit whose program upgrades databases from before `REVISIONS`."""
_MIGRATIONS = Path(__file__).parent / "schema" / "migrations"


def known_revision(place: object, revision: str) -> str:
    """Return the revision of the database at `place` as text.

    Raises DatabaseFault for one of a development version or of a newer geocrawl, and for that of another program that
    uses Alembic."""
    if re.fullmatch("[0-9]{4}", str(revision)) is None:
        raise DatabaseFault(f"{place}: is a database of another program; name another --db")
    if revision > REVISIONS[-1]:
        raise DatabaseFault(
            f"{place}: was written by a newer geocrawl (schema {revision}, this one knows {REVISIONS[-1]}); upgrade it"
        )
    if revision not in REVISIONS:
        first = f"let the program of commit {_UPGRADES_OLDER} upgrade it first (`geocrawl seeds add …`), or "
        raise DatabaseFault(
            f"{place}: was written by a development version (schema {revision}, this program upgrades from "
            f"{REVISIONS[0]}); {first if revision < REVISIONS[0] else ''}begin a new one (--db names another place)"
        )
    return str(revision)


def migrate_tables(engine: Engine) -> None:
    """Run the migrations that are missing, in one transaction, and close the engine.

    Raises DBAPIError when the database refuses one.
    """
    import logging

    from alembic import command  # its import takes 0.4 s, and a database that is up to date needs none
    from alembic.config import Config

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()
