"""List the revisions of the schema that this program knows, and run the migrations between them with Alembic."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault

if TYPE_CHECKING:
    from sqlalchemy import Engine

REVISIONS = (
    "0017",
    "0018",
    "0019",
    "0020",
    "0021",
    "0022",
    "0023",
    "0024",
    "0025",
    "0026",
    "0027",
    "0028",
    "0029",
    "0030",
    "0031",
)
"""The revisions of the schema that this program knows, oldest first: older databases are refused."""
_LAST_TO_UPGRADE_OLDER = "434ee4d"
"""The commit whose program upgrades databases from before `REVISIONS`."""
_MIGRATIONS = Path(__file__).parent / "schema" / "migrations"


def known_revision(place: object, revision: str) -> str:
    """Return the revision of the database at `place` as text.

    Raises DatabaseFault for one that is too old or of a newer geocrawl, and for that of another program that uses
    Alembic."""
    if re.fullmatch("[0-9]{4}", str(revision)) is None:
        raise DatabaseFault(f"{place}: is a database of another program; name another --db")
    if revision < REVISIONS[0]:
        raise DatabaseFault(
            f"{place}: is too old (schema {revision}, this program upgrades from {REVISIONS[0]}); upgrade it first by "
            f"`geocrawl seeds add …` with the program of commit {_LAST_TO_UPGRADE_OLDER}"
        )
    if revision not in REVISIONS:
        raise DatabaseFault(
            f"{place}: was written by a newer geocrawl (schema {revision}, this one knows {REVISIONS[-1]}); upgrade it"
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
