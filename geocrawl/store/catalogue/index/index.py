"""Answer what the search asks of a database (`geocrawl.store.catalogue.search.port.SearchIndex`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import ColumnElement, bindparam, case, func, select

from geocrawl.filters import QueryError
from geocrawl.model.availability import availability
from geocrawl.model.catalogue import Box, Layer
from geocrawl.query.fold import lines_of_words
from geocrawl.store.catalogue.index.full_text import full_text
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.store.catalogue.search.layers import pattern_of
from geocrawl.store.catalogue.search.port import (
    FACTS,
    PROVEN,
    QUERIED,
    Changes,
    Facts,
    Groups,
    LayerWords,
    Numbers,
    Phrase,
)
from geocrawl.store.catalogue.search.vocabulary import Vocabulary, shipped_vocabulary, with_synonyms
from geocrawl.store.catalogue.services import read_hits, read_layer
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list, json_elements
from geocrawl.store.database.probe_sums import read_sums
from geocrawl.store.database.schema.tables import (
    ENDPOINT,
    LAYER,
    SEARCH_CHANGE,
    SEARCH_ENTRY,
    SEARCH_LIST,
    SERVICE,
)
from geocrawl.store.database.sqlite.connection import MEMORY
from geocrawl.store.database.views import service_columns
from geocrawl.urls.database import DatabaseUrl, ServerDatabase

S = TypeVar("S")
_BEST = ENDPOINT.alias("best")
_SHOWN = SERVICE.outerjoin(_BEST, _BEST.c.id == SERVICE.c.best_id)
_LAST_CHANGE = select(func.coalesce(func.max(SEARCH_CHANGE.c.seq), 0))
_OF_ENTRY = ("systems", "formats", "fields", "title_words", "words", "completeness")
_OF_SERVICE = service_columns(_BEST)
_EXPRESSIONS: Mapping[str, ColumnElement[Any]] = {
    **_OF_SERVICE,
    **{name: func.coalesce(_OF_SERVICE[name], "") for name, column in QUERIED.items() if column.sql == "TEXT"},
    **{
        name: (SERVICE if name in SERVICE.c else _BEST).c[name]
        for name, column in QUERIED.items()
        if column.sql == "DATETIME"
    },
    **{name: SEARCH_ENTRY.c[name] for name in _OF_ENTRY},
    "server": _BEST.c.server,
}
_FACTS = select(*(_EXPRESSIONS[name].label(name) for name in FACTS if name not in PROVEN)).select_from(
    _SHOWN.join(SEARCH_ENTRY, SEARCH_ENTRY.c.service_id == SERVICE.c.id)
)
_SOME_FACTS = _FACTS.where(in_list(SERVICE.c.id, "ids"))
_PROOFS = (
    select(
        ENDPOINT.c.service_id,
        func.max(func.coalesce(ENDPOINT.c.level, "")),
        func.max(case((ENDPOINT.c.health != "unconfirmed", 1), else_=0)),
    )
    .where(ENDPOINT.c.service_id.is_not(None), ENDPOINT.c.status == "valid")
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
_LAYERS = (
    select(LAYER.c.position, LAYER.c.name, LAYER.c.title)
    .where(LAYER.c.service_id == bindparam("service"))
    .order_by(LAYER.c.position)
    .limit(bindparam("most"))
)
_LAYER_TEXTS = (
    select(LAYER.c.service_id, LAYER.c.position, LAYER.c.title + " " + LAYER.c.name + " " + LAYER.c.keywords)
    .where(in_list(LAYER.c.service_id, "ids"), LAYER.c.name != "")
    .order_by(LAYER.c.service_id, LAYER.c.position)
    .limit(bindparam("most"))
)
_MOST_GROUPS = 30
"""Most groups above a layer from which it inherits."""
_BEST_OF = select(SERVICE.c.best_id, SERVICE.c.id).where(in_list(SERVICE.c.id, "ids"), SERVICE.c.best_id.is_not(None))
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
            return Changes(upto, self._facts(rows, self._connection.execute(_PROOFS)), ())
        changed = [number for (number,) in self._connection.execute(_CHANGED, {"after": after})]
        ids = {"ids": changed}
        rows = self._connection.execute(_SOME_FACTS, ids).fetchall()
        written = self._facts(rows, self._connection.execute(_SOME_PROOFS, ids))
        return Changes(upto, written, sorted(set(changed) - {number for number, *_ in written}))

    def items(self, after: int) -> Mapping[int, tuple[str, ...]]:
        """Return the lists of reference systems, formats and fields with a number above `after`."""
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

    def vocabulary(self) -> Mapping[str, int]:
        """Return the words without digits, with the number of services that have them."""
        return full_text(self._connection).vocabulary(self._connection)

    def services(self, ids: Sequence[int], make: Callable[..., S], *, with_secrets: bool) -> Sequence[S]:
        """Return what `make` makes of each service's columns, given by name and without the costly ones; deleted
        services are missing."""
        return list(read_hits(self._connection, ids, make, with_secrets=with_secrets))

    def layers(self, service_id: int, phrases: Sequence[Phrase], most: int) -> tuple[Layer, ...]:
        """Return the first layers of a service in whose title or name one of the phrases occurs."""
        wanted = pattern_of(tuple(phrases))
        rows = self._connection.execute(_LAYERS, {"service": service_id, "most": _MOST_LAYERS_READ}).fetchall()
        lines = lines_of_words(f"{title} {name}" for _, name, title in rows)
        found = (
            Layer(service_id=service_id, position=position, name=name, title=title)
            for (position, name, title), line in zip(rows, lines, strict=True)
            if wanted.search(line)
        )
        return tuple(islice(found, most))

    def layer_texts(self, service_ids: Sequence[int], most: int) -> Sequence[LayerWords]:
        """Return the words of the layers with a name of some services, by their positions, `most` of them."""
        return self._connection.execute(_LAYER_TEXTS, {"ids": service_ids, "most": most}).fetchall()

    def layer(self, service_id: int, position: int, groups: Groups) -> tuple[Layer, tuple[str, ...]] | None:
        """Return a layer with the extent that it inherits, and the reference systems of its groups; None for one that
        is gone."""
        layer = read_layer(self._connection, service_id, position)
        if layer is None:
            return None
        box, inherited = self._group(service_id, layer.parent, groups, 1)
        return replace(layer, box=layer.box or box, crs=_codes(layer.crs)), inherited

    def _group(
        self, service_id: int, position: int | None, groups: Groups, depth: int
    ) -> tuple[Box | None, tuple[str, ...]]:
        """Return the extent and the reference systems that the layers of a group inherit. `groups` keeps them, because
        a group may have thousands, and thousands of layers."""
        if position is None or depth == _MOST_GROUPS:
            return None, ()
        if (known := groups.get((service_id, position))) is None:
            group = read_layer(self._connection, service_id, position)
            if group is None:
                return None, ()
            box, inherited = self._group(service_id, group.parent, groups, depth + 1)
            known = groups[service_id, position] = group.box or box, _codes((*group.crs, *inherited))
        return known

    def availabilities(self, ids: Sequence[int], since: float, now: float) -> Mapping[int, float | None]:
        """Return the share of the time in which the last answer of each service's best endpoint was valid; None, or no
        entry: not known."""
        service_at: dict[int, int] = dict(self._connection.execute(_BEST_OF, {"ids": ids}).fetchall())
        sums = read_sums(self._connection, service_at, since)
        return {service_at[endpoint]: availability(of_best, since, now) for endpoint, of_best in sums.items()}

    @staticmethod
    def _facts(rows: Sequence[Any], proofs: Iterable[tuple[int, str, int]]) -> Sequence[Facts]:
        of_service = {number: (level, bool(is_alive)) for number, level, is_alive in proofs}
        return [(*row, *of_service.get(row[0], ("", False))) for row in rows]


def _codes(systems: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(code.upper() for code in systems))


def offers_reference_system(connection: Connection, code: str) -> bool:
    """Return whether any service or layer is offered in a reference system, such as EPSG:4326."""
    return connection.execute(_OFFERED, {"code": code}).fetchone() is not None


def own_vocabulary(path: DatabaseUrl) -> Vocabulary | None:
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
