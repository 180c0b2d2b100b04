"""Whatever a server says of itself is settled whole, on either engine, and can be searched and exported afterwards.

Readers of documents leave no lone surrogates, which no engine stores.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from shapely import box

from geocrawl.export.services import write_geojson
from geocrawl.model import Deviation, Kind, Layer, Service, State, StoredPage
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.services import read_services
from geocrawl.store.database.database import open_readonly
from tests.support.invariants import check_invariants
from tests.support.postgres import Server
from tests.support.world import World, candidate, link, verdict

TEXT = st.text(max_size=40) | st.sampled_from(
    [
        "\0",
        "a\0b",
        "\x1b]0;x\x07",
        "'; DROP TABLE url; --",
        "%s",
        "?1",
        ":name",
        "\u202e",
        "𝒳" * 20,
        '"',
        "\\",
        "=1+1",
    ]
)
NUMBER = st.floats(-1e9, 1e9) | st.sampled_from([0.0, -0.0, 1e308, -1e308, 5e-324])
BOX = st.none() | st.tuples(st.floats(-180, 180), st.floats(-90, 90), st.floats(0, 360), st.floats(0, 180)).map(
    lambda sides: box(sides[0], sides[1], min(sides[0] + sides[2], 180), min(sides[1] + sides[3], 90))
)
LAYER = st.builds(
    Layer, name=TEXT, title=TEXT, abstract=TEXT, crs=st.lists(TEXT, max_size=3).map(tuple), box=BOX,
    styles=st.lists(TEXT, max_size=2).map(tuple), keywords=st.lists(TEXT, max_size=2).map(tuple),
    formats=st.lists(TEXT, max_size=2).map(tuple),
)  # fmt: skip
SERVICE = st.builds(
    Service, kind=st.just(Kind.WMS), version=TEXT, title=TEXT, abstract=TEXT, provider=TEXT, fees=TEXT,
    keywords=st.lists(TEXT, max_size=3).map(tuple), access_constraints=TEXT, online_resource=TEXT,
    contact=st.dictionaries(st.sampled_from(["person", "email", "phone"]), TEXT),
    formats=st.lists(TEXT, max_size=3).map(tuple), layers=st.lists(LAYER, max_size=4).map(tuple), fingerprint=TEXT,
)  # fmt: skip
DEVIATIONS = st.lists(st.builds(Deviation, st.just("charset"), TEXT), max_size=2).map(tuple)


@contextmanager
def empty_world(place: Path | str) -> Iterator[World]:
    world = World(place)
    try:
        yield world
    finally:
        world.store.close()


def settle(
    world: World, number: int, service: Service, deviations: tuple[Deviation, ...], said: str, body: bytes
) -> None:
    """Settle a page whose link text and kept body are strangers', and the probe of a service that it links."""
    world.seed(f"p{number}.example/")
    stored = StoredPage("utf-8", body, 0.5)
    world.settle(
        world.lease(), link(f"q{number}.example/"), reason=said, stored=stored, features=body, state=State.VISITED,
        candidates=[(candidate(f"m{number}.example/wms?service=WMS"), None)],
    )  # fmt: skip
    told = verdict(service=service, deviations=deviations, content_type=said, first_bytes=said, detail=said)
    world.record(candidate(f"m{number}.example/wms?service=WMS"), told, world.clock.now())


def read_back(world: World, services: int) -> None:
    check_invariants(world.database.connection)
    with open_readonly(world.database.path) as connection:
        found = list(read_services(connection, Selection()))
        assert len(found) == services
        stream = io.StringIO()
        write_geojson(found, stream)
        assert len(json.loads(stream.getvalue())["features"]) == services
        stream.getvalue().encode("utf-8")
        assert search_engine(connection).search(limit=1000, facets=True).services == services


@settings(max_examples=20, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(SERVICE, DEVIATIONS, TEXT, st.binary(max_size=50)), min_size=1, max_size=4))
def test_any_description_is_settled_in_a_file(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[Service, tuple[Deviation, ...], str, bytes]]
) -> None:
    with empty_world(tmp_path_factory.mktemp("any") / "c.db") as world:
        for number, each in enumerate(found):
            settle(world, number, *each)
        read_back(world, len(found))


@settings(max_examples=15, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(SERVICE, DEVIATIONS, TEXT, st.binary(max_size=50)), min_size=1, max_size=8))
def test_any_description_is_settled_on_a_server(
    postgres_server: Server, found: list[tuple[Service, tuple[Deviation, ...], str, bytes]]
) -> None:
    url = postgres_server.new_catalogue()
    try:
        with empty_world(url) as world:
            for number, each in enumerate(found):
                settle(world, number, *each)
            read_back(world, len(found))
    finally:
        postgres_server.drop(url)
