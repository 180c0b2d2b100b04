"""List the revisions of the schema that this program knows."""

from __future__ import annotations

import re
from pathlib import Path

from geocrawl.errors import DatabaseFault

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
