"""Answer what the search asks of a database (`geocrawl.search.port.SearchIndex`)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from geocrawl.model.health import availability
from geocrawl.search.engine import SearchEngine
from geocrawl.search.filters import QueryError
from geocrawl.search.fold import lines_of_words
from geocrawl.search.port import Changes, HitRow, Numbers, Phrase, ServiceFacts
from geocrawl.search.results import LayerHit
from geocrawl.search.vocabulary import Vocabulary, shipped_vocabulary, with_synonyms
from geocrawl.store.engine.clauses import listed
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.sqlite.connection import MEMORY
from geocrawl.store.search import postgres
from geocrawl.urls.database import Place, ServerDatabase

_LAST_CHANGE = "SELECT coalesce(max(seq), 0) FROM search_change"
_FACTS = """
SELECT s.id, s.kind, s.title, s.provider, s.layer_count, s.west, s.south, s.east, s.north, s.first_seen, s.last_ok,
  x.country, x.systems, x.formats, x.title_words, x.words, x.completeness, coalesce(b.key, ''), coalesce(b.host, ''),
  coalesce(b.health, 'new')
FROM service s JOIN search_entry x ON x.service_id = s.id LEFT JOIN endpoint b ON b.id = s.best_id"""
_SOME_FACTS = f"{_FACTS} WHERE s.id IN {listed('?')}"
_PROOFS = """
SELECT service_id, max(coalesce(level, '')) FROM endpoint
WHERE service_id IS NOT NULL AND status = 'valid' GROUP BY service_id"""
_SOME_PROOFS = f"""
SELECT service_id, max(coalesce(level, '')) FROM endpoint
WHERE service_id IN {listed("?")} AND status = 'valid' GROUP BY service_id"""  # noqa: S608 our own
_CHANGED = "SELECT service_id FROM search_change WHERE seq > ?"
_LISTS = "SELECT id, items FROM search_list WHERE id > ?"
_OFFERED = """
SELECT 1 FROM search_entry x JOIN search_list l ON l.id = x.systems, json_each(l.items) system
WHERE upper(system.value) = upper(?) LIMIT 1"""
_MATCH = "SELECT group_concat(rowid) FROM search_text WHERE search_text MATCH ?"
_VOCABULARY = "SELECT term, doc FROM search_word WHERE term >= ?1 AND term < ?2 AND term NOT GLOB '*[0-9]*'"
_ROWS = f"""
SELECT s.id, s.kind, s.title, s.abstract, s.provider, s.version, s.layer_count, coalesce(b.url, ''), b.id,
  coalesce(b.health, 'new'), coalesce(b.deviations, '[]'), s.first_seen, s.last_ok
FROM service s LEFT JOIN endpoint b ON b.id = s.best_id WHERE s.id IN {listed("?")}"""  # noqa: S608 our own
_LAYERS = "SELECT position, name, title FROM layer WHERE service_id = ? ORDER BY position LIMIT ?"
_ANSWERS = """
SELECT at, status = 'valid' FROM probe WHERE endpoint_id = ?1 AND at >= coalesce(
  (SELECT max(at) FROM probe WHERE endpoint_id = ?1 AND at < ?2), ?2) ORDER BY at, id"""
_MOST_LAYERS_READ = 2_000
_MOST_ANSWERS = 64
"""Answers of `match` that are kept, since the pages of one search and its facets ask for the same words; each has at
most 8 bytes a service."""
_HIGHEST = "\U0010ffff"


def search_engine(connection: Connection, *, shows_secrets: bool = False) -> SearchEngine:
    """Return a search of the catalogue. `shows_secrets`: addresses are not masked.

    Raises QueryError for a file `synonyms.toml` beside the catalogue that cannot be read.
    """
    vocabulary = own_vocabulary(connection.path)
    return SearchEngine(SqlSearchIndex(connection), shows_secrets=shows_secrets, vocabulary=vocabulary)


class SqlSearchIndex:
    """The search index of one database."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._matched = lru_cache(_MOST_ANSWERS)(self._look_up)

    def changes(self, after: int) -> Changes | None:
        """Return what has changed since change number `after` (0: everything there is); None for nothing."""
        upto = int(self._connection.execute(_LAST_CHANGE).fetchone()[0])
        if upto == after:
            return None
        self.forget()
        if after == 0:
            rows = self._connection.execute(_FACTS).fetchall()
            return Changes(upto, self._facts(rows, dict(self._connection.execute(_PROOFS))), ())
        changed = [number for (number,) in self._connection.execute(_CHANGED, (after,))]
        ids = (json.dumps(changed),)
        rows = self._connection.execute(_SOME_FACTS, ids).fetchall()
        written = self._facts(rows, dict(self._connection.execute(_SOME_PROOFS, ids)))
        return Changes(upto, written, sorted(set(changed) - {facts.id for facts in written}))

    def items(self, after: int) -> Mapping[int, tuple[str, ...]]:
        """Return the lists of reference systems and formats with a number above `after`."""
        return {number: tuple(json.loads(text)) for number, text in self._connection.execute(_LISTS, (after,))}

    def match(self, phrases: Sequence[Phrase], columns: Sequence[str] = ()) -> Numbers:
        """Return the ids of the services in which one of the phrases occurs, in the named columns or in any."""
        return self._matched(tuple(phrases), tuple(columns)) if phrases else np.empty(0, np.int64)

    def forget(self) -> None:
        """Forget the last answers of `match`."""
        self._matched.cache_clear()

    def _look_up(self, phrases: Sequence[Phrase], columns: Sequence[str]) -> Numbers:
        if self._connection.engine == "postgresql":
            return postgres.match(self._connection, phrases, columns)
        query = " OR ".join(_quoted(phrase) for phrase in phrases)
        if columns:
            query = f"{{{' '.join(columns)}}} : ({query})"
        # One text of all numbers is read four times as fast as a row for each.
        (text,) = self._connection.execute(_MATCH, (query,)).fetchone()
        return np.fromstring(text, np.int64, sep=",") if text else np.empty(0, np.int64)

    def vocabulary(self, first: str) -> Mapping[str, int]:
        """Return the words without digits that begin with `first`, with the number of services that have them."""
        if self._connection.engine == "postgresql":
            return postgres.vocabulary(self._connection, first)
        return dict(self._connection.execute(_VOCABULARY, (first, first + _HIGHEST)))

    def rows(self, ids: Sequence[int]) -> Mapping[int, HitRow]:
        """Return what is shown of services; deleted ones are missing."""
        return {row[0]: _hit_row(row) for row in self._connection.execute(_ROWS, (json.dumps(ids),))}

    def layers(self, service_id: int, phrases: Sequence[Phrase], most: int) -> tuple[LayerHit, ...]:
        """Return the first layers of a service in whose title or name one of the phrases occurs."""
        wanted = _any_of(tuple(phrases))
        rows = self._connection.execute(_LAYERS, (service_id, _MOST_LAYERS_READ)).fetchall()
        lines = lines_of_words(f"{title} {name}" for _, name, title in rows)
        found = (LayerHit(*row) for row, line in zip(rows, lines, strict=True) if wanted.search(line))
        return tuple(islice(found, most))

    def availability(self, endpoint_id: int, since: float, now: float) -> float | None:
        """Return the share of the time in which the last answer of an endpoint was valid; None: not known."""
        answers = [(at, bool(ok)) for at, ok in self._connection.execute(_ANSWERS, (endpoint_id, since))]
        return availability(answers, since, now)

    @staticmethod
    def _facts(rows: Sequence[Any], levels: Mapping[int, str]) -> Sequence[ServiceFacts]:
        return [ServiceFacts._make((*row, levels.get(row[0], ""), row[0] in levels)) for row in rows]


def offers_reference_system(connection: Connection, code: str) -> bool:
    """Return whether any service or layer is offered in a reference system, such as EPSG:4326."""
    return connection.execute(_OFFERED, (code,)).fetchone() is not None


def own_vocabulary(path: Place) -> Vocabulary | None:
    """Return the shipped words that mean the same with those of `synonyms.toml` beside the database at `path`; None
    without such a file, and for a database of a server. Raises QueryError for one that cannot be read."""
    if isinstance(path, ServerDatabase):
        return None
    file = path.with_name("synonyms.toml")
    try:
        text = file.read_text("utf-8") if path != MEMORY and file.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise QueryError(f"{file}: {error}") from error
    return None if text is None else with_synonyms(shipped_vocabulary(), text, str(file))


@lru_cache(maxsize=4)
def _any_of(phrases: tuple[Phrase, ...]) -> re.Pattern[str]:
    """Return a pattern for texts, with a space around each word, that hold one of the phrases."""
    texts = {f" {' '.join(words)}{'' if is_prefix else ' '}" for words, is_prefix in phrases}
    return re.compile("|".join(re.escape(text) for text in sorted(texts)))


def _quoted(phrase: Phrase) -> str:
    """Return a phrase in FTS5's syntax. Words hold letters, marks and digits alone; quotes keep `OR` a word."""
    text = " ".join(phrase.words).replace('"', " ")
    return f'"{text}"' + ("*" if phrase.is_prefix else "")


def _hit_row(row: Sequence[Any]) -> HitRow:
    *first, deviations, first_seen, last_ok = row
    codes = (str(deviation["code"]) for deviation in json.loads(deviations))
    tls = next((code for code in codes if code.startswith("tls-")), "")
    return HitRow._make((*first, tls, first_seen, last_ok))
