"""Keep the words of services in PostgreSQL, and find phrases in them with the same answers as SQLite's FTS5.

Texts are cut into words by our own folding, not by PostgreSQL's parser, which takes `inspire/geoserver` for one word.
Each column holds its words with a space around each, `words` all of them once, without places (a `tsvector` keeps at
most 16,383 places), and `fields` each with the number of its column before it. Indexes of both find the services that
have all words of a phrase, in one column; whether they stand next to each other is looked up in the columns.

These statements are SQL, since each is put together from what a person typed: SQLAlchemy would build and compile it
again for every search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from geocrawl.query.fold import words_of
from geocrawl.store.catalogue.search.port import Numbers, Phrase
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema import TEXT_COLUMNS
from geocrawl.store.database.steps import ChunkedWork

_COLUMNS = {name: f"{number}:" for number, name in enumerate(TEXT_COLUMNS)}
"""Column → what stands before its words in `fields`; no word contains a colon, only letters, marks and digits."""
_MOST_CHARS = 500
"""Characters of a word by which it is looked up: a lexeme has at most 2,046 bytes."""
_MOST_BYTES = 900_000
"""Bytes of all words of a service that can be looked up, and of those by column: a `tsvector` has at most 1 MiB."""
COLUMNS: tuple[str, ...] = ("rowid", *TEXT_COLUMNS, "words", "fields")
"""Columns of a row of `search_text`."""
_VOCABULARY = "SELECT word, ndoc FROM ts_stat('SELECT words FROM search_text')"


def text_row(number: int, texts: Mapping[str, str]) -> tuple[int | str, ...]:
    """Return the row of `search_text` for the folded texts of a service: its number, its columns, `words`, and
    `fields`."""
    words = {name: words_of(texts[name]) for name in TEXT_COLUMNS}
    lines = [f" {' '.join(words[name])} " if words[name] else "" for name in TEXT_COLUMNS]
    once = _looked_up(each for name in TEXT_COLUMNS for each in words[name])
    by_column = _looked_up(f"{_COLUMNS[name]}{each}" for name in TEXT_COLUMNS for each in words[name])
    return number, *lines, *(" ".join(f"'{word}'" for word in found) for found in (once, by_column))


def match(connection: Connection, phrases: Sequence[Phrase], columns: Sequence[str]) -> Numbers:
    """Return the ids of the services in which one of the phrases occurs, in the named columns or in any."""
    parts, values = list[str](), list[str]()
    single = [phrase for phrase in phrases if len(phrase.words) == 1]
    several = [phrase for phrase in phrases if len(phrase.words) > 1]
    if single:
        values.append(" | ".join(_query(phrase, name) for phrase in single for name in columns or [""]))
        parts.append(f"{'fields' if columns else 'words'} @@ CAST(?1 AS tsquery)")
    texts = dict[str, int]()
    for phrase in several:
        values.append(f" {' '.join(phrase.words)}{'' if phrase.is_prefix else ' '}")
        texts[values[-1]] = len(values)
    # A part for each column: only the columns that have all words of a phrase are read, and `fields` is not.
    for name in (columns or TEXT_COLUMNS) if several else ():
        values.append(" | ".join(f"({_query(phrase, name)})" for phrase in several))
        found = " OR ".join(f"strpos({name}, ?{number}) > 0" for number in texts.values())
        parts.append(f"fields @@ CAST(?{len(values)} AS tsquery) AND ({found})")
    statement = " UNION ".join(f"SELECT rowid FROM search_text WHERE {part}" for part in parts)  # noqa: S608 our own words
    with connection.by_index():
        return np.array([row[0] for row in connection.execute(statement, values)], np.int64)


def vocabulary(connection: Connection) -> Mapping[str, int]:
    """Return the words without digits, with the number of services that have them."""
    return {word: services for word, services in connection.execute(_VOCABULARY).fetchall() if word.isalpha()}


def is_sound(database: Database) -> bool:
    """Return True: the server looks after its files, `pg_amcheck` and checksums look for damage."""
    return True


def clear(connection: Connection) -> None:
    """Delete all rows of `search_text`."""
    connection.execute("DELETE FROM search_text")


def merge_segments(database: Database, few: int) -> ChunkedWork[None]:
    """Do nothing: the index has no parts."""
    yield from ()


def _looked_up(words: Iterable[str]) -> list[str]:
    """Return each word once, shortened, as many as a `tsvector` holds."""
    found, left = dict[str, None](), _MOST_BYTES
    for word in words:
        short = word[:_MOST_CHARS]
        if short not in found:
            left -= len(short.encode("utf-8", "replace")) + 16
            if left < 0:
                break
            found[short] = None
    return list(found)


def _query(phrase: Phrase, column: str = "") -> str:
    """Return what all words of a phrase are looked up by, in a column if one is named, in the syntax of `tsquery`."""
    words = [_quoted(f"{_COLUMNS[column]}{word}" if column else word) for word in phrase.words]
    return " & ".join(words) + (":*" if phrase.is_prefix else "")


def _quoted(word: str) -> str:
    return "'" + word[:_MOST_CHARS].replace("\\", " ").replace("'", " ") + "'"
