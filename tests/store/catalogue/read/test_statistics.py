"""Counts over the whole catalogue."""

from __future__ import annotations

from geocrawl.model import Kind, Layer, Service
from geocrawl.store.catalogue.read.statistics import count_layers, kind_counts, read_growth, read_software_growth
from tests.support.world import World, candidate, verdict


def test_services_are_counted_once_however_they_are_counted(engine_url: str) -> None:
    world = World(engine_url)
    for number, path in enumerate(("geoserver/ows", "maps/ows", "geoserver/b/ows")):
        service = Service(
            Kind.WMS, "1.3.0", f"Maps {number}", layers=(Layer("a", "A"), Layer("b", "B")), fingerprint=path
        )
        world.record(candidate(f"s{number}.example.org/{path}"), verdict("ok", service), world.clock.time + number)
    connection = world.database.connection
    software, growth = read_software_growth(connection, 7), read_growth(connection, 7)
    assert software is not None and growth is not None
    assert software.of_all == growth
    assert software.counts == (("GeoServer", 2), ("", 1))
    (kind,) = kind_counts(connection)
    assert (kind.services, kind.alive, kind.layers, count_layers(connection)) == (3, 3, 6, 6)
