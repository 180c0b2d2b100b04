"""Keep the words of services in SQLite's FTS5, and find phrases in them.

These statements are SQL: SQLAlchemy has no words for MATCH on a table, for FTS5's commands and for its vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.catalogue.search.port import Numbers, Phrase
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema import TEXT_COLUMNS
from geocrawl.store.database.steps import ChunkedWork

COLUMNS: tuple[str, ...] = ("rowid", *TEXT_COLUMNS)
"""Columns of a row of `search_text`."""
_MATCH = "SELECT group_concat(rowid) FROM search_text WHERE search_text MATCH ?"
_VOCABULARY = "SELECT term, doc FROM search_word WHERE term NOT GLOB '*[0-9]*'"
_CHECK = "INSERT INTO search_text (search_text) VALUES ('integrity-check')"
_MADE_BY = "SELECT sql FROM sqlite_master WHERE name = 'search_text'"
_SEGMENTS = "SELECT count(DISTINCT segid) FROM search_text_idx"
_MERGE = "INSERT INTO search_text (search_text, rank) VALUES ('merge', ?)"
_CHANGES = "SELECT total_changes()"
_LEAST_CHANGES = 2
"""Fewer changes than these a merge makes that had nothing to do (SQLite's documentation of FTS5)."""
_PAGES = 500
"""Pages of the index that one transaction merges."""


def text_row(number: int, texts: Mapping[str, str]) -> tuple[int | str, ...]:
    """Return the row of `search_text` for the folded texts of a service: its number and its columns."""
    return number, *(texts[name] for name in TEXT_COLUMNS)


def match(connection: Connection, phrases: Sequence[Phrase], columns: Sequence[str]) -> Numbers:
    """Return the ids of the services in which one of the phrases occurs, in the named columns or in any."""
    query = " OR ".join(_quoted(phrase) for phrase in phrases)
    if columns:
        query = f"{{{' '.join(columns)}}} : ({query})"
    # One text of all numbers is read four times as fast as a row for each.
    (text,) = connection.execute(_MATCH, (query,)).fetchone()
    return np.fromstring(text, np.int64, sep=",") if text else np.empty(0, np.int64)


def vocabulary(connection: Connection) -> Mapping[str, int]:
    """Return the words without digits, with the number of services that have them."""
    return dict(connection.execute(_VOCABULARY))


def is_sound(database: Database) -> bool:
    """Return whether the index agrees with its own texts (FTS5's `integrity-check`)."""
    try:
        with database.transaction:
            database.connection.execute(_CHECK)
    except DatabaseFault as fault:
        if isinstance(fault, PassingFault):
            raise
        return False
    return True


def clear(connection: Connection) -> None:
    """Make `search_text` again: rows of a damaged index cannot be deleted one by one."""
    (made_by,) = connection.execute(_MADE_BY).fetchone()
    connection.execute("DROP TABLE search_text")
    connection.execute(made_by)


def merge_segments(database: Database, few: int) -> ChunkedWork[None]:
    """Make one part of the full-text index when it is in more than `few`: a search then takes half the time."""
    connection, pages = database.connection, -_PAGES  # negative: merge all parts, not those of one size alone
    if connection.execute(_SEGMENTS).fetchone()[0] <= few:
        return
    while True:
        with database.transaction:
            before = connection.execute(_CHANGES).fetchone()[0]
            connection.execute(_MERGE, (pages,))
            changes = connection.execute(_CHANGES).fetchone()[0] - before
        if changes < _LEAST_CHANGES:
            return
        pages = _PAGES
        yield


def _quoted(phrase: Phrase) -> str:
    """Return a phrase in FTS5's syntax. Words hold letters, marks and digits alone; quotes keep `OR` a word."""
    text = " ".join(phrase.words).replace('"', " ")
    return f'"{text}"' + ("*" if phrase.is_prefix else "")
