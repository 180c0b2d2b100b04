"""See published services, which are read one after the other, as the details of which pages and records are made.

To read each detail by itself (`read.show`) takes ten statements a service: an hour for a large catalogue. What
belongs to single addresses, such as the time of each probe, is not in a site of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby

from geocrawl.model.published import PublishedLayer, PublishedService
from geocrawl.store.catalogue.read.published import StoredLayer, layer_of
from geocrawl.store.catalogue.read.show import EndpointRow, LayerRow, ServiceDetail


def with_layers(
    services: Iterable[PublishedService], layers: Iterable[StoredLayer]
) -> Iterator[tuple[PublishedService, list[StoredLayer]]]:
    """Yield each service with its layers; both come in the order of the services' numbers."""
    by_service = groupby(layers, key=lambda layer: layer.service_id)
    number, own = next(by_service, (0, iter(())))
    for service in services:
        while number and number < service.id:
            number, own = next(by_service, (0, iter(())))
        yield service, list(own) if number == service.id else []


def seconds(time: str) -> float:
    """Return the seconds since 1970 of a published time."""
    return datetime.fromisoformat(time).timestamp()


def detail_of(service: PublishedService, layers: Iterable[StoredLayer]) -> ServiceDetail:
    """Return a service with its layers as a page shows it."""
    return ServiceDetail(
        id=service.id,
        kind=service.kind,
        title=service.title,
        abstract=service.abstract,
        keywords=service.keywords,
        provider=service.provider,
        contact=service.contact,
        fees=service.fees,
        access_constraints=service.access_constraints,
        version=service.version,
        formats=service.formats,
        online_resource=service.online_resource,
        read_by="",
        layer_count=service.layers,
        box=service.box,
        first_seen=seconds(service.first_seen),
        last_ok=seconds(service.last_ok),
        layers=tuple(_layer(layer_of(each)) for each in layers),
        endpoints=(_endpoint(service),),
        best=service.url,
        same=(),
        quality=service.quality,
        quality_parts={},
        page=service.page,
    )


def _endpoint(service: PublishedService) -> EndpointRow:
    """Return the best address, as far as it is known."""
    return EndpointRow(
        id=0,
        kind=service.kind,
        url=service.url,
        service_id=service.id,
        status="valid" if service.alive else "invalid",
        reason=None,
        detail=None,
        version=service.version,
        http_status=None,
        deviations=tuple({"code": each, "detail": ""} for each in service.deviations),
        first_seen=seconds(service.first_seen),
        last_probe=None,
        last_ok=seconds(service.last_ok),
        probes=0,
        level=service.level or None,
        proved_at=None,
        https=service.https,
        cors=service.cors,
        proof=(),
        entry_id=None,
        evidence=(),
    )


def _layer(layer: PublishedLayer) -> LayerRow:
    return LayerRow(
        position=layer.position,
        parent=layer.parent,
        name=layer.name,
        title=layer.title,
        abstract=layer.abstract,
        crs=layer.crs,
        styles=layer.styles,
        keywords=(),
        queryable=layer.queryable,
        item=layer.item,
        formats=(),
        box=layer.box,
    )
