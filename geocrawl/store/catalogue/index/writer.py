"""Write the words and facts of a service into the search index, inside the caller's transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Integer, bindparam, delete, insert, select

from geocrawl.model.catalogue import SIDES
from geocrawl.query.fold import count_words, folded_for_index
from geocrawl.query.places import shipped_places
from geocrawl.store.catalogue.index.full_text import full_text
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import (
    ENDPOINT,
    EVIDENCE,
    LAYER,
    SEARCH_ENTRY,
    SEARCH_LIST,
    SEARCH_TEXT,
    SERVICE,
)

MOST_LAYERS = 20_000
"""Layers of a service whose words are in the index."""
MOST_CHARS: Final[Mapping[str, int]] = {"title": 1_000, "abstract": 10_000, "keywords": 5_000, "provider": 500}
"""Characters of a service's text that are in the index."""
_LAYER_CHARS = 300
_ALL_LAYERS_CHARS = 400_000
_FOUND_CHARS = 2_000
_MOST_ITEMS = 20_000
_COMPLETE_ABSTRACT_CHARS = 120

_SERVICE_COLUMNS = ("title", "abstract", "keywords", "provider", "formats", "contact", "layer_count")
_OF_SERVICE = bindparam("service", type_=Integer)
_SERVICE = select(*(SERVICE.c[name] for name in (*_SERVICE_COLUMNS, *SIDES))).where(SERVICE.c.id == _OF_SERVICE)
_LAYERS = (
    select(LAYER.c.title, LAYER.c.name, LAYER.c.keywords, LAYER.c.crs, LAYER.c.formats, LAYER.c.fields)
    .where(LAYER.c.service_id == _OF_SERVICE)
    .order_by(LAYER.c.position)
    .limit(MOST_LAYERS)
)
_ADDRESSES = select(ENDPOINT.c.masked_url).where(ENDPOINT.c.service_id == _OF_SERVICE).order_by(ENDPOINT.c.id).limit(10)
_LINK_TEXTS = (
    select(EVIDENCE.c.anchor)
    .distinct()
    .select_from(EVIDENCE.join(ENDPOINT, ENDPOINT.c.id == EVIDENCE.c.endpoint_id))
    .where(ENDPOINT.c.service_id == _OF_SERVICE, EVIDENCE.c.anchor != "")
    .limit(50)
)
_ENTRY = SEARCH_ENTRY.c.service_id == _OF_SERVICE
_EVIDENCE = select(SEARCH_ENTRY.c.evidence).where(_ENTRY)
_DROP_TEXT = delete(SEARCH_TEXT).where(SEARCH_TEXT.c.rowid == _OF_SERVICE)
_DROP_ENTRY = delete(SEARCH_ENTRY).where(_ENTRY)
_ADD_ENTRY = insert(SEARCH_ENTRY)
_LIST = select(SEARCH_LIST.c.id).where(SEARCH_LIST.c.digest == bindparam("digest"))
_ADD_LIST = insert(SEARCH_LIST).returning(SEARCH_LIST.c.id)


class SearchWriter:
    """Writes services into the index; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def is_behind(self, number: int) -> bool:
        """Return whether links or addresses of a service are known now that were not when it was indexed."""
        row = self._connection.execute(_EVIDENCE, {"service": number}).fetchone()
        return row is None or int(row[0]) != sum(map(len, self._evidence(number)))

    def write(self, number: int) -> None:
        """Write what is stored of a service now, in the place of what the index has of it."""
        row = next(self._connection.execute(_SERVICE, {"service": number}).dicts(), None)
        self.drop(number)
        if row is None:
            return
        layers = self._connection.execute(_LAYERS, {"service": number}).fetchall()
        anchors, addresses = self._evidence(number)
        texts = {name: str(row[name])[:most] for name, most in MOST_CHARS.items()}
        texts["keywords"] = _joined(json.loads(row["keywords"]), MOST_CHARS["keywords"])
        texts["layers"] = _joined(_layer_texts(layers), _ALL_LAYERS_CHARS)
        texts["found"] = _joined(anchors, _FOUND_CHARS)
        texts["address"] = _joined(addresses, _FOUND_CHARS)
        words = {name: folded_for_index(text) for name, text in texts.items()}
        index = full_text(self._connection)
        self._connection.add_rows(SEARCH_TEXT.name, index.COLUMNS, [index.text_row(number, words)])
        sides = tuple(row[side] for side in SIDES)
        host = (addresses[0] if addresses else "").partition("://")[2].partition("/")[0].partition(":")[0]
        entry = {
            "service_id": number,
            "systems": self._list(code for layer in layers for code in json.loads(layer[3])),
            "formats": self._list(
                [*json.loads(row["formats"]), *(name for layer in layers for name in json.loads(layer[4]))]
            ),
            "fields": self._list(name for layer in layers for name in _field_names(layer[5])),
            "country": shipped_places().country_of(host, None if None in sides else sides),
            "title_words": count_words(words["title"]),
            "words": sum(len(text.split()) for text in words.values()),
            "completeness": completeness(row),
            "evidence": len(anchors) + len(addresses),
        }
        self._connection.execute(_ADD_ENTRY, entry)

    def drop(self, number: int) -> None:
        """Take a service out of the index, also where a part of it is lost."""
        for statement in (_DROP_ENTRY, _DROP_TEXT):
            self._connection.execute(statement, {"service": number})

    def _evidence(self, number: int) -> tuple[list[str], list[str]]:
        """Return the texts of links that led to a service, and its addresses."""
        texts = [text for (text,) in self._connection.execute(_LINK_TEXTS, {"service": number})]
        return texts, [key for (key,) in self._connection.execute(_ADDRESSES, {"service": number})]

    def _list(self, items: Iterable[object]) -> int:
        """Return the number of a list of texts, which is stored if it is new."""
        text = json.dumps(sorted({str(item) for item in items})[:_MOST_ITEMS], ensure_ascii=False)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        row = self._connection.execute(_LIST, {"digest": digest}).fetchone()
        if row is None:
            row = self._connection.execute(_ADD_LIST, {"digest": digest, "items": text}).fetchone()
        return int(row[0])


def completeness(row: Mapping[str, Any]) -> int:
    """Return how much a service says of itself, 0 to 100, by its row: a title, a description, keywords, a provider, a
    contact, layers and an extent."""
    says: tuple[bool, ...] = (
        bool(row["title"].strip()),
        bool(row["abstract"].strip()),
        len(row["abstract"]) >= _COMPLETE_ABSTRACT_CHARS,
        row["keywords"] != "[]",
        bool(row["provider"].strip()),
        row["contact"] != "{}",
        bool(row["layer_count"]),
        row["west"] is not None,
    )
    return round(100 * sum(says) / len(says))


@lru_cache(maxsize=64)
def _field_names(stored: str) -> tuple[str, ...]:
    """Return the names and aliases of the fields of a layer."""
    return tuple(text for each in json.loads(stored) for name, text in each.items() if name != "type")


def _layer_texts(layers: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield titles, names and keywords of layers, each text once."""
    seen = set[str]()
    for title, name, keywords, *_ in layers:
        for text in (title, name, *(json.loads(keywords) if keywords != "[]" else ())):
            text = str(text)[:_LAYER_CHARS]
            if text and text not in seen:
                seen.add(text)
                yield text


def _joined(texts: Iterable[str], most: int) -> str:
    """Return texts with a line between them, as many as fit into `most` characters."""
    lines, left = list[str](), most
    for text in texts:
        left -= len(text) + 1
        if left < 0:
            break
        lines.append(str(text))
    return " \n".join(lines)
