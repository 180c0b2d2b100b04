"""Write what a valid endpoint describes: the service, its layers, its words for the search.

The endpoints of one cluster (`clusters`) are one service. Only `endpoint.service_id` stores that, so it can be undone.
A service keeps its id while it has an endpoint, and its description is the last one of its best endpoint.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import BigInteger, ClauseElement, bindparam, delete, func, insert, or_, select, union_all, update

from geocrawl.model import Endpoint, Layer, Service
from geocrawl.model.catalogue import SIDES
from geocrawl.model.languages import language_of, two_letters
from geocrawl.model.licences import licence_of
from geocrawl.model.times import Times, union
from geocrawl.sanitize import masked
from geocrawl.store.catalogue.index.writer import SearchWriter
from geocrawl.store.catalogue.write.changes import write_changes
from geocrawl.store.catalogue.write.clusters import EndpointClusters
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list, upsert
from geocrawl.store.database.schema.tables import DESCRIPTION, ENDPOINT, EVIDENCE, LAYER, SERVICE, SERVICE_ALIAS

if TYPE_CHECKING:
    from shapely import Polygon

_is_service = SERVICE.c.id == bindparam("service")
_ADD_SERVICE = insert(SERVICE)
_BEST = select(SERVICE.c.best_id).where(_is_service)
_WRITE_SERVICE = update(SERVICE).where(_is_service)
_CONFIRM = _WRITE_SERVICE.where(SERVICE.c.last_ok < bindparam("at")).values(last_ok=bindparam("at"))
"""Note that the description of a service was read again."""
_WRITE_BEST = _WRITE_SERVICE.where(SERVICE.c.best_id.is_distinct_from(bindparam("best"))).values(
    best_id=bindparam("best")
)
"""Write the best endpoint of a service. (A row that stays as it was is not written, and not told to the search.)"""
_FINGERPRINT = select(SERVICE.c.fingerprint).where(_is_service)
_DROP_SERVICE = delete(SERVICE).where(_is_service)
_numbers = union_all(
    select(func.coalesce(func.max(SERVICE.c.id), 0).label("number")),
    select(func.coalesce(func.max(SERVICE_ALIAS.c.old), 0)),
).subquery("numbers")
_NEXT_SERVICE = select(func.max(_numbers.c.number) + 1)
"""The next number of a service: never that of a former one, which people may know."""
_KEEP_ALIAS = upsert(SERVICE_ALIAS, "old")
_MOVE_ALIASES = update(SERVICE_ALIAS).where(SERVICE_ALIAS.c.new == bindparam("number")).values(new=bindparam("new"))
_DROP_ALIASES = delete(SERVICE_ALIAS).where(SERVICE_ALIAS.c.new == bindparam("number"))
_DROP_ALIAS = delete(SERVICE_ALIAS).where(SERVICE_ALIAS.c.old == bindparam("number"))
_FORMER_NUMBER = (
    select(func.min(SERVICE_ALIAS.c.old))
    .join_from(SERVICE_ALIAS, ENDPOINT, ENDPOINT.c.id == SERVICE_ALIAS.c.endpoint_id)
    .where(in_list(ENDPOINT.c.id, "endpoints"), ENDPOINT.c.service_id == SERVICE_ALIAS.c.new)
)
"""Find the former number of a service of these endpoints, which leads to their service now."""
_copied = [column for column in SERVICE.c if column.name not in ("id", "best_id")]
_COPY_SERVICE = insert(SERVICE).from_select(
    [SERVICE.c.id, *_copied], select(bindparam("copy", type_=BigInteger), *_copied).where(_is_service)
)
"""Add a service with the same description."""
_of_service = LAYER.c.service_id == bindparam("service")
_parts = [column for column in LAYER.c if column.name != "service_id"]
_COPY_LAYERS = insert(LAYER).from_select(
    [LAYER.c.service_id, *_parts], select(bindparam("copy", type_=BigInteger), *_parts).where(_of_service)
)
"""Add the layers of a service to another one."""
_ADD_LAYER = insert(LAYER)
_SAID = select(*(column for column in _copied if column.name not in ("first_seen", "last_ok"))).where(_is_service)
_SAID_OF_LAYERS = (
    select(*(column for column in LAYER.c if column.name != "fields")).where(_of_service).order_by(LAYER.c.position)
)
"""Read what a service said of itself; fields come from content checks."""
_FIELDS = select(LAYER.c.name, LAYER.c.fields).where(_of_service, LAYER.c.fields != "[]")
_DROP_LAYERS = delete(LAYER).where(_of_service)
_is_endpoint = ENDPOINT.c.id == bindparam("endpoint")
_is_assigned = ENDPOINT.c.service_id == bindparam("service")
_SERVICE_OF = select(ENDPOINT.c.service_id).where(_is_endpoint)
_PUT_ENDPOINT = (
    update(ENDPOINT)
    .where(_is_endpoint, ENDPOINT.c.service_id.is_distinct_from(bindparam("service")))
    .values(service_id=bindparam("service"))
)
"""Assign an endpoint to a service."""
_MOVE_ENDPOINTS = (
    update(ENDPOINT).where(ENDPOINT.c.service_id == bindparam("former")).values(service_id=bindparam("service"))
)
_ENDPOINTS_OF = select(ENDPOINT.c.id).where(_is_assigned)
_ANY_ENDPOINT = _ENDPOINTS_OF.limit(1)
_SAYS_STILL = (
    select(ENDPOINT.c.id)
    .join_from(DESCRIPTION, ENDPOINT, ENDPOINT.c.id == DESCRIPTION.c.endpoint_id)
    .where(_is_assigned, DESCRIPTION.c.fingerprint == bindparam("fingerprint"))
    .limit(1)
)
"""Find whether an endpoint of a service still says what is stored of the service."""
_LAST_DESCRIBED_BY = (
    select(SERVICE.c.id)
    .join_from(ENDPOINT, SERVICE, SERVICE.c.id == ENDPOINT.c.service_id)
    .outerjoin(DESCRIPTION, DESCRIPTION.c.endpoint_id == ENDPOINT.c.id)
    .where(_is_endpoint)
    .where(or_(DESCRIPTION.c.fingerprint == SERVICE.c.fingerprint, DESCRIPTION.c.fingerprint.is_(None)))
)
_TIMES_BY_RECORDS = select(EVIDENCE.c.time_start, EVIDENCE.c.time_end).where(
    EVIDENCE.c.endpoint_id == bindparam("endpoint"),
    or_(EVIDENCE.c.time_start.is_not(None), EVIDENCE.c.time_end.is_not(None)),
)
"""Read the times of data by the records that name an endpoint."""


class ServiceWriter:
    """Writes services; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._search = SearchWriter(connection)
        self._unindexed = set[int]()
        """Services whose words are written to the index when their endpoints are assigned."""
        self._clusters = EndpointClusters(connection)

    def write(self, service: Service, endpoint_id: int, endpoint: Endpoint, at: float) -> None:
        """Write an endpoint's description, and assign the endpoint to the service that it belongs to."""
        recorded = self._connection.execute(_TIMES_BY_RECORDS, {"endpoint": endpoint_id}).fetchall()
        service = replace(service, times=union(Times(*row) for row in recorded))
        was_its_own = self._value(_LAST_DESCRIBED_BY, endpoint=endpoint_id) is not None
        is_new = self._clusters.keep_description(endpoint_id, endpoint.key, service, at)
        site = endpoint.url.site
        number = self._service_of(endpoint_id)
        services = self._clusters.joined_services(endpoint_id) if number is None else None
        if services == ():
            self._add_of(endpoint_id, service, site, at)
        else:
            if services:
                number = self._join(endpoint_id, services)
            elif is_new or number is None:
                self._regroup(endpoint_id, new=(service, site, at))
                number = self._service_of(endpoint_id)
            assert number is not None, "joined or regrouped with a description of its own"
            self._describe(number, service, endpoint_id, site, at, was_its_own=was_its_own)
            if number not in self._unindexed and self._search.is_behind(number):
                self._unindexed.add(number)
        self._index()

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Store a person's decision that two valid endpoints are one service, or are not."""
        self._clusters.decide(one, other, same=same, at=at)
        for endpoint_id in (one, other):
            self._regroup(endpoint_id)
        self._index()

    def follow(self, former: int, present: int, at: float) -> bool:
        """Make an endpoint that has moved for good one service with its valid target, if both offer the same items.
        Returns whether they are one."""
        if not self._clusters.keep_move(former, present, at):
            return False
        if self._service_of(former) != self._service_of(present):
            self._regroup(former)
            self._index()
        return True

    def regroup_what_is_left(self, services: Iterable[int]) -> int:
        """Regroup the endpoints that remain of services that lost some of theirs, and delete services that lost all;
        return how many were deleted."""
        dropped = 0
        for number in services:
            left = [row[0] for row in self._connection.execute(_ENDPOINTS_OF, {"service": number})]
            regrouped = set[int]()
            for endpoint_id in left:
                if endpoint_id not in regrouped:
                    regrouped |= self._regroup(endpoint_id)
            if not left:
                self._drop(number)
                dropped += 1
        self._index()
        return dropped

    def confirm(self, endpoint_id: int, at: float) -> None:
        """Write that the description of an endpoint, and so that of its service, has not changed."""
        self._connection.execute(_CONFIRM, {"service": self._service_of(endpoint_id), "at": at})

    def choose_best(self, endpoint_id: int) -> None:
        """Choose the best address of an endpoint's service, after a verdict on the endpoint."""
        number = self._service_of(endpoint_id)
        if number is not None:
            self._write_best(number)

    def _add_of(self, endpoint_id: int, service: Service, site: str, at: float) -> None:
        """Add the service of an endpoint that no other one shares."""
        number = self._add(service, site, at, best=endpoint_id)
        self._connection.execute(_PUT_ENDPOINT, {"service": number, "endpoint": endpoint_id})

    def _join(self, endpoint_id: int, services: tuple[int, ...]) -> int:
        """Assign an endpoint without a service to the services to which edges join it; several of them are merged into
        the first one, which is returned."""
        number = services[0]
        self._connection.execute(_PUT_ENDPOINT, {"service": number, "endpoint": endpoint_id})
        for other in services[1:]:
            self._connection.execute(_MOVE_ENDPOINTS, {"service": number, "former": other})
            self._drop(other, successor=number)
        return number

    def _regroup(self, endpoint_id: int, new: tuple[Service, str, float] | None = None) -> set[int]:
        """Assign one service to each cluster around an endpoint; return the endpoints of these clusters. `new`: the
        service of a cluster that has none."""
        claimed, successors = set[int](), dict[int, int]()
        clusters = self._clusters.clusters_around(endpoint_id)
        if len(clusters) > 1:  # whoever had the number before the others joined keeps it
            clusters = sorted(clusters, key=lambda members: self._former_number(members) is not None)
        for members in clusters:
            former = {number for member in members if (number := self._service_of(member)) is not None}
            if free := former - claimed:
                number = min(free)
            elif new is not None and endpoint_id in members:
                number = self._add(*new)
            elif former:
                number = self._copy(min(former), members)
            else:
                continue
            claimed.add(number)
            successors |= {each: number for each in former if each not in successors}
            put = [{"service": number, "endpoint": member} for member in members]
            self._connection.executemany(_PUT_ENDPOINT, put)
            self._write_best(number)
        for number in sorted(successors.keys() - claimed):
            if self._value(_ANY_ENDPOINT, service=number) is None:
                self._drop(number, successors[number])
        return {member for members in clusters for member in members}

    def _describe(
        self, number: int, service: Service, endpoint_id: int, site: str, at: float, *, was_its_own: bool
    ) -> None:
        """Store an endpoint's description as that of its service, if the endpoint is the service's best one, or if none
        of the service's endpoints has the stored description any longer. `was_its_own`: the stored one was the last one
        of this endpoint, so what differs has changed."""
        stored = self._value(_FINGERPRINT, service=number)
        is_best = self._write_best(number) == endpoint_id
        row = service_row(service, site, at)
        layers = _layer_rows(number, service, row)
        if not (is_best or self._is_said_by_none(number, stored)) or self._is_stored(number, row, layers):
            self._connection.execute(_CONFIRM, {"service": number, "at": at})
            return
        if was_its_own:
            write_changes(self._connection, endpoint_id, number, service, at)
        self._connection.execute(_WRITE_SERVICE, {"service": number, **row})
        fields = dict(self._connection.execute(_FIELDS, {"service": number}).fetchall())
        self._drop_parts(number)
        self._add_parts(number, layers, fields)

    def _is_stored(self, number: int, row: Mapping[str, object], layers: list[dict[str, object]]) -> bool:
        """Return whether a description is the stored one of a service, to the last word."""
        stored = dict(next(self._connection.execute(_SAID, {"service": number}).dicts()))
        stored_layers = list(self._connection.execute(_SAID_OF_LAYERS, {"service": number}).dicts())
        return stored == {name: row[name] for name in stored} and stored_layers == layers

    def _is_said_by_none(self, number: int, fingerprint: str) -> bool:
        return self._value(_SAYS_STILL, service=number, fingerprint=fingerprint) is None

    def _add(self, service: Service, site: str, at: float, best: int | None = None) -> int:
        row = {**service_row(service, site, at), "first_seen": at, "best_id": best}
        number = int(self._value(_NEXT_SERVICE))
        self._connection.execute(_ADD_SERVICE, {"id": number, **row})
        self._add_parts(number, _layer_rows(number, service, row), {})
        return number

    def _copy(self, number: int, members: tuple[int, ...]) -> int:
        """Add a service with the same description, for endpoints that were split off; return its id: the number under
        which people knew the service of one of them, if it was merged into this one."""
        former = self._former_number(members)
        copy = int(former if former is not None else self._value(_NEXT_SERVICE))
        self._connection.execute(_DROP_ALIAS, {"number": copy})
        self._connection.execute(_COPY_SERVICE, {"service": number, "copy": copy})
        self._connection.execute(_COPY_LAYERS, {"copy": copy, "service": number})
        self._unindexed.add(copy)
        return copy

    def _former_number(self, members: tuple[int, ...]) -> int | None:
        """Return the number of a service of these endpoints that was merged into the one they belong to now."""
        former: int | None = self._value(_FORMER_NUMBER, endpoints=list(members))
        return former

    def _drop(self, number: int, successor: int | None = None) -> None:
        """Delete a service. `successor`: the service that its endpoints belong to now, to which its number leads from
        now on, as do the numbers that led to it; None: they lead nowhere."""
        self._drop_parts(number)
        if successor is None:
            self._connection.execute(_DROP_ALIASES, {"number": number})
        else:
            best = self._value(_BEST, service=number)
            self._connection.execute(_KEEP_ALIAS, {"old": number, "new": successor, "endpoint_id": best})
            self._connection.execute(_MOVE_ALIASES, {"number": number, "new": successor})
        self._connection.execute(_DROP_SERVICE, {"service": number})

    def _add_parts(self, number: int, rows: list[dict[str, object]], fields: Mapping[str, str]) -> None:
        """Add the layers and the words of a service that has none. `fields`: what is known of layers by their names."""
        if rows:
            for row in rows:
                row["fields"] = fields.get(str(row["name"]), "[]")
            self._connection.executemany(_ADD_LAYER, rows)
        self._unindexed.add(number)

    def _drop_parts(self, number: int) -> None:
        self._connection.execute(_DROP_LAYERS, {"service": number})
        self._search.drop(number)

    def _index(self) -> None:
        """Write the words of services that were added or described again."""
        for number in sorted(self._unindexed):
            self._search.write(number)
        self._unindexed.clear()

    def _write_best(self, number: int) -> int | None:
        best = self._clusters.best_endpoint(number)
        self._connection.execute(_WRITE_BEST, {"service": number, "best": best})
        return best

    def _service_of(self, endpoint_id: int) -> int | None:
        number: int | None = self._value(_SERVICE_OF, endpoint=endpoint_id)
        return number

    def _value(self, statement: ClauseElement, **values: object) -> Any:
        """Return the first column of a statement's first row, None when there is no row."""
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]


# --------------------------------------------------------------------------- rows


_Described = TypeVar("_Described", Service, Layer)


_TEXTS = ("title", "abstract", "provider", "fees", "access_constraints")
_TEXTS_OF_LAYER = ("title", "abstract")


def without_secrets(service: Service) -> Service:
    """Return a description without the keys and passwords of addresses in its running texts.

    A text is published as it is stored, and no request needs it. `online_resource` stays whole.
    """
    contact = {name: masked(text) for name, text in service.contact.items()}
    if contact != service.contact:
        service = replace(service, contact=contact)
    layers = tuple(_changed(layer, _TEXTS_OF_LAYER) for layer in service.layers)
    if any(new is not old for new, old in zip(layers, service.layers, strict=True)):
        service = replace(service, layers=layers)
    return _changed(service, _TEXTS)


def _changed(described: _Described, names: tuple[str, ...]) -> _Described:
    """Return a value of a dataclass with the secrets in these texts masked: the same one when there are none."""
    texts: dict[str, Any] = {name: masked(text) for name in names if masked(text := getattr(described, name)) != text}
    keywords = tuple(map(masked, described.keywords))
    if keywords != described.keywords:
        texts["keywords"] = keywords
    return replace(described, **texts) if texts else described


_MOST_CHARS = 20_000
"""Most characters of the keywords of a service or layer, or of its formats, that are kept: as many as of an abstract.
Each list of services repeats them."""


def _first(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first texts, as many as are kept."""
    ends = accumulate(map(len, texts))
    return tuple(text for text, end in zip(texts, ends, strict=True) if end <= _MOST_CHARS)


def service_row(service: Service, site: str, at: float) -> Mapping[str, object]:
    """Return the columns of `service` that a description decides; `site`: of the endpoint, `at`: when it was read."""
    return {
        "kind": service.kind,
        "fingerprint": service.fingerprint,
        "site": site,
        "title": service.title,
        "abstract": service.abstract,
        "keywords": _json(_first(service.keywords)),
        "provider": service.provider,
        "contact": json.dumps(dict(service.contact), ensure_ascii=False),
        "fees": service.fees,
        "access_constraints": service.access_constraints,
        "licence": licence_of(service.access_constraints, service.fees),
        "language": language_of(_texts(service)) or two_letters(service.language),
        "version": service.version,
        "formats": _json(_first(service.formats)),
        "online_resource": service.online_resource,
        "masked_online_resource": masked(service.online_resource),
        "layer_count": sum(1 for layer in service.layers if layer.name),
        "read_by": service.read_by,
        "last_ok": at,
        **_sides(layer.box for layer in service.layers),
        **_ends(union(layer.times for layer in service.layers) or service.times),
    }


def _texts(service: Service) -> Iterator[str]:
    """Yield the texts of a service and then those of its layers."""
    yield from (service.title, service.abstract)
    for layer in service.layers:
        yield from (layer.title, layer.abstract)


_TELLING_CHARS = 200
"""So much of a layer's abstract is read for its language."""
_OWN_LANGUAGES = 1_000
"""So many layers have a language of their own, which takes a fifth of a millisecond each."""


def _layer_rows(number: int, service: Service, row: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the rows of the layers of a service with this number and this row."""
    return [
        {
            "service_id": number,
            "position": position,
            **_layer_row(layer, row),
            "language": (position < _OWN_LANGUAGES and _language(layer)) or row["language"],
        }
        for position, layer in enumerate(service.layers)
    ]


def _language(layer: Layer) -> str:
    return language_of((layer.title, layer.abstract[:_TELLING_CHARS]))


def _layer_row(layer: Layer, service: Mapping[str, object]) -> Mapping[str, object]:
    """Return the columns of `layer` that a description decides: all but the service and the position in it."""
    return {
        "licence": licence_of(layer.terms, "") if layer.terms else service["licence"],
        "parent": layer.parent,
        "name": layer.name,
        "title": layer.title,
        "abstract": layer.abstract,
        "crs": _json(layer.crs),
        "styles": _json(layer.styles),
        "keywords": _json(_first(layer.keywords)),
        "queryable": int(layer.queryable),
        "item": layer.item,
        "formats": _json(_first(layer.formats)),
        **_sides([layer.box]),
        **_ends(layer.times),
        "time_step": layer.times.step if layer.times else "",
        "min_scale": layer.scales[0] or None if layer.scales else None,
        "max_scale": layer.scales[1] if layer.scales and isfinite(layer.scales[1]) else None,
    }


def _ends(times: Times | None) -> Mapping[str, float | None]:
    return {"time_start": times and times.start, "time_end": times and times.end}


def _sides(extents: Iterable[Polygon | None]) -> Mapping[str, float | None]:
    """Return the sides of the box around all extents that are known, degrees; None for each when none is known."""
    from shapely import GeometryCollection  # a crawl that finds no service does without

    known = GeometryCollection([extent for extent in extents if extent is not None])
    return dict(zip(SIDES, (None,) * 4 if known.is_empty else known.bounds, strict=True))


@lru_cache(maxsize=16)  # layers that follow each other mostly have the same lists, or none
def _json(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False)
