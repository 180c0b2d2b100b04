"""Write what a valid endpoint describes: the service, its layers, its words for the search.

The endpoints of one cluster (`clusters`) are one service. Only `endpoint.service_id` stores that, so it can be undone.
A service keeps its id while it has an endpoint, and its description is the last one of its best endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ClauseElement, bindparam, delete, func, insert, literal, select, update

from geocrawl.model import Endpoint, Service
from geocrawl.store.catalog.clusters import EndpointClusters
from geocrawl.store.catalog.index_words import Segment
from geocrawl.store.catalog.service_rows import layer_row, service_row
from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import DESCRIPTION, ENDPOINT, LAYER, SERVICE, SERVICE_TEXT

_THIS = SERVICE.c.id == bindparam("service")
_ADD = insert(SERVICE).returning(SERVICE.c.id)
_WRITE = update(SERVICE).where(_THIS)
_CONFIRM = update(SERVICE).where(_THIS).values(last_ok=func.max(SERVICE.c.last_ok, bindparam("at")))
_FINGERPRINT = select(SERVICE.c.fingerprint).where(_THIS)
_DROP = delete(SERVICE).where(_THIS)
_COPIED = [column for column in SERVICE.c if column.name not in ("id", "best_id")]
_COPY = (
    insert(SERVICE)
    .from_select([column.name for column in _COPIED], select(*_COPIED).where(_THIS))
    .returning(SERVICE.c.id)
)

_SERVICE_OF = select(ENDPOINT.c.service_id).where(ENDPOINT.c.id == bindparam("endpoint"))
_PUT = (
    update(ENDPOINT)
    .where(ENDPOINT.c.id == bindparam("endpoint"), ENDPOINT.c.service_id.is_distinct_from(bindparam("service")))
    .values(service_id=bindparam("service"))
)
_MOVE_ALL = update(ENDPOINT).where(ENDPOINT.c.service_id == bindparam("former"))
_ENDPOINTS = select(ENDPOINT.c.id).where(ENDPOINT.c.service_id == bindparam("service"))
_ANY_ENDPOINT = select(literal(1)).where(ENDPOINT.c.service_id == bindparam("service")).limit(1)
_SAYS_STILL = (
    select(literal(1))
    .select_from(DESCRIPTION.join(ENDPOINT, ENDPOINT.c.id == DESCRIPTION.c.endpoint_id))
    .where(ENDPOINT.c.service_id == bindparam("service"), DESCRIPTION.c.fingerprint == bindparam("fingerprint"))
)
_LAST_DESCRIBED_BY = (
    select(SERVICE.c.id)
    .select_from(
        ENDPOINT.join(SERVICE, SERVICE.c.id == ENDPOINT.c.service_id).outerjoin(
            DESCRIPTION, DESCRIPTION.c.endpoint_id == ENDPOINT.c.id
        )
    )
    .where(
        ENDPOINT.c.id == bindparam("endpoint"),
        (DESCRIPTION.c.fingerprint == SERVICE.c.fingerprint) | DESCRIPTION.c.fingerprint.is_(None),
    )
)

_OF_SERVICE = LAYER.c.service_id == bindparam("service")
_ADD_LAYER = insert(LAYER)
_DROP_LAYERS = delete(LAYER).where(_OF_SERVICE)
_COPIED_OF_LAYER = [column for column in LAYER.c if column.name != "service_id"]
_COPY_LAYERS = insert(LAYER).from_select(
    ["service_id", *(column.name for column in _COPIED_OF_LAYER)],
    select(bindparam("copy"), *_COPIED_OF_LAYER).where(_OF_SERVICE),
)

_WORDS = [column for column in SERVICE_TEXT.c if column.name != "rowid"]
_ADD_WORDS = insert(SERVICE_TEXT)
_DROP_WORDS = delete(SERVICE_TEXT).where(SERVICE_TEXT.c.rowid == bindparam("service"))
_COPY_WORDS = insert(SERVICE_TEXT).from_select(
    ["rowid", *(column.name for column in _WORDS)],
    select(bindparam("copy"), *_WORDS).where(SERVICE_TEXT.c.rowid == bindparam("service")),
)


class ServiceWriter:
    """Writes services; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection, segment: Segment) -> None:
        """Write services; `segment` splits texts into words for the index."""
        self._connection = connection
        self._segment = segment
        self._clusters = EndpointClusters(connection)

    def write(self, service: Service, endpoint_id: int, endpoint: Endpoint, at: float) -> None:
        """Write an endpoint's description, and assign the endpoint to the service that it belongs to."""
        is_new = self._clusters.keep_description(endpoint_id, endpoint.key, service, at)
        site = endpoint.url.site
        former = self._service_of(endpoint_id)
        if former is None and (services := self._clusters.joined_services(endpoint_id)) is not None:
            self._join(endpoint_id, services, new=(service, site, at))
        elif is_new or former is None:
            self._regroup(endpoint_id, new=(service, site, at))
        number = self._service_of(endpoint_id)
        assert number is not None, "joined or regrouped with a description of its own"
        self._describe(number, service, endpoint_id, site, at)

    def last_described_by(self, endpoint_id: int) -> int | None:
        """Return the service of an endpoint, if the service's stored description is the last one of this endpoint."""
        number: int | None = self._value(_LAST_DESCRIBED_BY, endpoint=endpoint_id)
        return number

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Store a person's decision that two valid endpoints are one service, or are not."""
        self._clusters.decide(one, other, same=same, at=at)
        for endpoint_id in (one, other):
            self._regroup(endpoint_id)

    def regroup_what_is_left(self, services: Iterable[int]) -> int:
        """Regroup the endpoints that remain of services that lost some of theirs, and delete services that lost all;
        return how many were deleted."""
        dropped = 0
        for number in services:
            left = [row[0] for row in self._connection.run(_ENDPOINTS, {"service": number})]
            regrouped = set[int]()
            for endpoint_id in left:
                if endpoint_id not in regrouped:
                    regrouped |= self._regroup(endpoint_id)
            if not left:
                self._drop(number)
                dropped += 1
        return dropped

    def confirm(self, endpoint_id: int, at: float) -> None:
        """Write that the description of an endpoint, and so that of its service, has not changed."""
        self._connection.run(_CONFIRM, {"service": self._service_of(endpoint_id), "at": at})

    def choose_best(self, endpoint_id: int) -> None:
        """Choose the best address of an endpoint's service, after a verdict on the endpoint."""
        number = self._service_of(endpoint_id)
        if number is not None:
            self._write_best(number)

    def _join(self, endpoint_id: int, services: tuple[int, ...], new: tuple[Service, str, float]) -> None:
        """Assign an endpoint without a service to the services to which edges join it; several of them are merged into
        one."""
        number = services[0] if services else self._add(*new)
        self._connection.run(_PUT, {"service": number, "endpoint": endpoint_id})
        for other in services[1:]:
            self._connection.run(_MOVE_ALL, {"service_id": number, "former": other})
            self._drop(other)

    def _regroup(self, endpoint_id: int, new: tuple[Service, str, float] | None = None) -> set[int]:
        """Assign one service to each cluster around an endpoint; return the endpoints of these clusters. `new`: the
        service of a cluster that has none."""
        claimed = set[int]()
        before = set[int]()
        clusters = self._clusters.clusters_around(endpoint_id)
        for members in clusters:
            former = {number for member in members if (number := self._service_of(member)) is not None}
            before |= former
            if free := former - claimed:
                number = min(free)
            elif new is not None and endpoint_id in members:
                number = self._add(*new)
            elif former:
                number = self._copy(min(former))
            else:
                continue
            claimed.add(number)
            self._connection.run_many(_PUT, [{"service": number, "endpoint": member} for member in members])
            self._write_best(number)
        for number in sorted(before - claimed):
            if self._value(_ANY_ENDPOINT, service=number) is None:
                self._drop(number)
        return {member for members in clusters for member in members}

    def _describe(self, number: int, service: Service, endpoint_id: int, site: str, at: float) -> None:
        """Store an endpoint's description as that of its service, if the endpoint is the service's best one, or if none
        of the service's endpoints has the stored description any longer."""
        stored = self._value(_FINGERPRINT, service=number)
        is_best = self._write_best(number) == endpoint_id
        if stored == service.fingerprint or not (is_best or self._is_said_by_none(number, stored)):
            self._connection.run(_CONFIRM, {"service": number, "at": at})
            return
        self._connection.run(_WRITE, {"service": number, **service_row(service, site, at)})
        self._drop_parts(number)
        self._add_parts(number, service)

    def _is_said_by_none(self, number: int, fingerprint: str) -> bool:
        return self._value(_SAYS_STILL, service=number, fingerprint=fingerprint) is None

    def _add(self, service: Service, site: str, at: float) -> int:
        number = int(self._value(_ADD, **service_row(service, site, at), first_seen=at))
        self._add_parts(number, service)
        return number

    def _copy(self, number: int) -> int:
        """Add a service with the same description, for endpoints that were split off; return its id."""
        copy = int(self._value(_COPY, service=number))
        for statement in (_COPY_LAYERS, _COPY_WORDS):
            self._connection.run(statement, {"copy": copy, "service": number})
        return copy

    def _drop(self, number: int) -> None:
        self._drop_parts(number)
        self._connection.run(_DROP, {"service": number})

    def _add_parts(self, number: int, service: Service) -> None:
        """Add the layers and the words of a service that has none."""
        layers = enumerate(service.layers)
        rows = [{"service_id": number, "position": position, **layer_row(layer)} for position, layer in layers]
        self._connection.run_many(_ADD_LAYER, rows)
        texts = {
            "title": service.title,
            "abstract": service.abstract,
            "keywords": " \n".join(service.keywords),
            "provider": service.provider,
            "layers": " \n".join(f"{layer.title} {layer.name}" for layer in service.layers),
        }
        words = {name: self._segment(text) for name, text in texts.items()}
        self._connection.run(_ADD_WORDS, {"rowid": number, **words})

    def _drop_parts(self, number: int) -> None:
        for statement in (_DROP_LAYERS, _DROP_WORDS):
            self._connection.run(statement, {"service": number})

    def _write_best(self, number: int) -> int | None:
        best = self._clusters.best_endpoint(number)
        self._connection.run(_WRITE, {"service": number, "best_id": best})
        return best

    def _service_of(self, endpoint_id: int) -> int | None:
        number: int | None = self._value(_SERVICE_OF, endpoint=endpoint_id)
        return number

    def _value(self, statement: ClauseElement, **values: object) -> Any:
        """Return the first column of a statement's first row, None when there is no row."""
        row = self._connection.run(statement, values).fetchone()
        return None if row is None else row[0]
