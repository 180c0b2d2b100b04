"""Answer what the search asks of a database (`geocrawl.store.catalogue.search.port.SearchIndex`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import Float, and_, bindparam, func, select

from geocrawl.model.health import availability
from geocrawl.store.catalogue.index.full_text import full_text
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.store.catalogue.search.filters import QueryError
from geocrawl.store.catalogue.search.fold import lines_of_words
from geocrawl.store.catalogue.search.layers import pattern_of
from geocrawl.store.catalogue.search.port import Changes, HitRow, LayerText, Numbers, Phrase, ServiceFacts
from geocrawl.store.catalogue.search.results import LayerHit, LayerRow
from geocrawl.store.catalogue.search.vocabulary import Vocabulary, shipped_vocabulary, with_synonyms
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list, json_elements
from geocrawl.store.database.quality import quality
from geocrawl.store.database.schema.tables import (
    ENDPOINT,
    LAYER,
    PROBE,
    SEARCH_CHANGE,
    SEARCH_ENTRY,
    SEARCH_LIST,
    SERVICE,
)
from geocrawl.store.database.sqlite.connection import MEMORY
from geocrawl.urls.database import Place, ServerDatabase

_BEST = ENDPOINT.alias("best")
_SHOWN = SERVICE.outerjoin(_BEST, _BEST.c.id == SERVICE.c.best_id)
_LAST_CHANGE = select(func.coalesce(func.max(SEARCH_CHANGE.c.seq), 0))
_OF_SERVICE = ("id", "kind", "title", "provider", "layer_count", "west", "south", "east", "north")
_OF_ENTRY = ("country", "systems", "formats", "title_words", "words", "completeness")
_FACTS = select(
    *(SERVICE.c[name] for name in (*_OF_SERVICE, "first_seen", "last_ok")),
    *(SEARCH_ENTRY.c[name] for name in _OF_ENTRY),
    *(_BEST.c.server, func.coalesce(_BEST.c.host, ""), func.coalesce(_BEST.c.health, "new")),
    quality(_BEST),
).select_from(_SHOWN.join(SEARCH_ENTRY, SEARCH_ENTRY.c.service_id == SERVICE.c.id))
_SOME_FACTS = _FACTS.where(in_list(SERVICE.c.id, "ids"))
_PROOFS = (
    select(ENDPOINT.c.service_id, func.max(func.coalesce(ENDPOINT.c.level, "")))
    .where(ENDPOINT.c.service_id.is_not(None), ENDPOINT.c.status == "valid", ENDPOINT.c.health != "unconfirmed")
    .group_by(ENDPOINT.c.service_id)
)
_SOME_PROOFS = _PROOFS.where(in_list(ENDPOINT.c.service_id, "ids"))
_CHANGED = select(SEARCH_CHANGE.c.service_id).where(SEARCH_CHANGE.c.seq > bindparam("after"))
_LISTS = select(SEARCH_LIST.c.id, SEARCH_LIST.c["items"]).where(SEARCH_LIST.c.id > bindparam("after"))
_SYSTEM = json_elements(SEARCH_LIST.c["items"]).table_valued("value", name="system")
_OFFERED = (
    select(SEARCH_ENTRY.c.service_id)
    .select_from(SEARCH_ENTRY.join(SEARCH_LIST, SEARCH_LIST.c.id == SEARCH_ENTRY.c.systems), _SYSTEM)
    .where(func.upper(_SYSTEM.c.value) == func.upper(bindparam("code")))
    .limit(1)
)
_ROWS = (
    select(
        *(SERVICE.c[name] for name in ("id", "kind", "title", "abstract", "provider", "version", "layer_count")),
        *(func.coalesce(_BEST.c.url, ""), _BEST.c.id, func.coalesce(_BEST.c.health, "new")),
        *(func.coalesce(_BEST.c.deviations, "[]"), SERVICE.c.first_seen, SERVICE.c.last_ok),
    )
    .select_from(_SHOWN)
    .where(in_list(SERVICE.c.id, "ids"))
)
_LAYERS = (
    select(LAYER.c.position, LAYER.c.name, LAYER.c.title)
    .where(LAYER.c.service_id == bindparam("service"))
    .order_by(LAYER.c.position)
    .limit(bindparam("most"))
)
_LAYER_TEXTS = (
    select(LAYER.c.service_id, LAYER.c.position, LAYER.c.title, LAYER.c.name, LAYER.c.keywords)
    .where(in_list(LAYER.c.service_id, "ids"), LAYER.c.name != "")
    .order_by(LAYER.c.service_id, LAYER.c.position)
    .limit(bindparam("most"))
)
_LAYER = select(
    *(
        LAYER.c[name]
        for name in ("name", "title", "abstract", "item", "west", "south", "east", "north", "crs", "parent")
    )
).where(LAYER.c.service_id == bindparam("service"), LAYER.c.position == bindparam("position"))
_MOST_GROUPS = 30
"""Most groups above a layer from which it inherits."""
_OF_ENDPOINT = and_(PROBE.c.endpoint_id == bindparam("endpoint"), PROBE.c.status != "unasked")
_SINCE = bindparam("since", type_=Float)
_LAST_BEFORE = select(func.max(PROBE.c.at)).where(_OF_ENDPOINT, PROBE.c.at < _SINCE).scalar_subquery()
_ANSWERS = (
    select(PROBE.c.at, PROBE.c.status == "valid")
    .where(_OF_ENDPOINT, PROBE.c.at >= func.coalesce(_LAST_BEFORE, _SINCE))
    .order_by(PROBE.c.at, PROBE.c.id)
)
_MOST_LAYERS_READ = 2_000
_MOST_BYTES = 48 * 2**20
"""Bytes of the answers of `match` that are kept until something changes: the pages of one search and its facets ask for
the same words, and many searches for some of them. Of a word that every service has it is 8 bytes a service."""
_ANSWER_BYTES = 1_000
"""Bytes of an answer besides its numbers, about."""


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
        self._answers: dict[tuple[tuple[Phrase, ...], tuple[str, ...]], Numbers] = {}
        """Answers of `match`, the one that was asked for last at the end."""
        self._bytes = 0

    def changes(self, after: int) -> Changes | None:
        """Return what has changed since change number `after` (0: everything there is); None for nothing."""
        upto = int(self._connection.execute(_LAST_CHANGE).fetchone()[0])
        if upto == after:
            return None
        self.forget()
        if after == 0:
            rows = self._connection.execute(_FACTS).fetchall()
            return Changes(upto, self._facts(rows, dict(self._connection.execute(_PROOFS))), ())
        changed = [number for (number,) in self._connection.execute(_CHANGED, {"after": after})]
        ids = {"ids": changed}
        rows = self._connection.execute(_SOME_FACTS, ids).fetchall()
        written = self._facts(rows, dict(self._connection.execute(_SOME_PROOFS, ids)))
        return Changes(upto, written, sorted(set(changed) - {facts.id for facts in written}))

    def items(self, after: int) -> Mapping[int, tuple[str, ...]]:
        """Return the lists of reference systems and formats with a number above `after`."""
        return {number: tuple(json.loads(text)) for number, text in self._connection.execute(_LISTS, {"after": after})}

    def match(self, phrases: Sequence[Phrase], columns: Sequence[str] = ()) -> Numbers:
        """Return the ids of the services in which one of the phrases occurs, in the named columns or in any."""
        if not phrases:
            return np.empty(0, np.int64)
        asked = tuple(phrases), tuple(columns)
        found = self._answers.pop(asked, None)
        if found is None:
            found = self._look_up(*asked)
            self._bytes += found.nbytes + _ANSWER_BYTES
        self._answers[asked] = found
        while self._bytes > _MOST_BYTES:
            self._bytes -= self._answers.pop(next(iter(self._answers))).nbytes + _ANSWER_BYTES
        return found

    def forget(self) -> None:
        """Forget the answers of `match`."""
        self._answers.clear()
        self._bytes = 0

    def _look_up(self, phrases: Sequence[Phrase], columns: Sequence[str]) -> Numbers:
        return full_text(self._connection).match(self._connection, phrases, columns)

    def vocabulary(self, first: str) -> Mapping[str, int]:
        """Return the words without digits that begin with `first`, with the number of services that have them."""
        return full_text(self._connection).vocabulary(self._connection, first)

    def rows(self, ids: Sequence[int]) -> Mapping[int, HitRow]:
        """Return what is shown of services; deleted ones are missing."""
        return {row[0]: _hit_row(row) for row in self._connection.execute(_ROWS, {"ids": ids})}

    def layers(self, service_id: int, phrases: Sequence[Phrase], most: int) -> tuple[LayerHit, ...]:
        """Return the first layers of a service in whose title or name one of the phrases occurs."""
        wanted = pattern_of(tuple(phrases))
        rows = self._connection.execute(_LAYERS, {"service": service_id, "most": _MOST_LAYERS_READ}).fetchall()
        lines = lines_of_words(f"{title} {name}" for _, name, title in rows)
        found = (LayerHit(*row) for row, line in zip(rows, lines, strict=True) if wanted.search(line))
        return tuple(islice(found, most))

    def layer_texts(self, service_ids: Sequence[int], most: int) -> Sequence[LayerText]:
        """Return the words of the layers with a name of some services, by their positions, `most` of them."""
        return [LayerText(*row) for row in self._connection.execute(_LAYER_TEXTS, {"ids": service_ids, "most": most})]

    def layer_row(self, service_id: int, position: int) -> LayerRow | None:
        """Return what is shown of a layer; None for one that is no more."""
        found: list[Mapping[str, Any]] = []
        at: int | None = position
        while at is not None and len(found) < _MOST_GROUPS:
            row = next(self._connection.execute(_LAYER, {"service": service_id, "position": at}).dicts(), None)
            if row is None:
                break
            found.append(row)
            at = row["parent"]
        if not found:
            return None
        boxes = ((row["west"], row["south"], row["east"], row["north"]) for row in found if row["west"] is not None)
        systems = tuple(dict.fromkeys(str(code).upper() for row in found for code in json.loads(row["crs"])))
        own = found[0]
        return LayerRow(own["name"], own["title"], own["abstract"], own["item"], next(boxes, None), systems)

    def availability(self, endpoint_id: int, since: float, now: float) -> float | None:
        """Return the share of the time in which the last answer of an endpoint was valid; None: not known."""
        answers = [
            (at, bool(ok)) for at, ok in self._connection.execute(_ANSWERS, {"endpoint": endpoint_id, "since": since})
        ]
        return availability(answers, since, now)

    @staticmethod
    def _facts(rows: Sequence[Any], levels: Mapping[int, str]) -> Sequence[ServiceFacts]:
        return [ServiceFacts._make((*row, levels.get(row[0], ""), row[0] in levels)) for row in rows]


def offers_reference_system(connection: Connection, code: str) -> bool:
    """Return whether any service or layer is offered in a reference system, such as EPSG:4326."""
    return connection.execute(_OFFERED, {"code": code}).fetchone() is not None


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


def _hit_row(row: Sequence[Any]) -> HitRow:
    *first, deviations, first_seen, last_ok = row
    codes = (str(deviation["code"]) for deviation in json.loads(deviations))
    tls = next((code for code in codes if code.startswith("tls-")), "")
    return HitRow._make((*first, tls, first_seen, last_ok))
