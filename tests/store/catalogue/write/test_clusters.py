"""One service, many addresses: by evidence, in any order, and as a person says."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Candidate, Endpoint, Evidence, Kind, Layer, Service
from geocrawl.store.catalogue.read.show import addresses_at, addresses_of, why_same
from geocrawl.store.catalogue.write.clusters import Description, Edge, EndpointClusters, describe, match, partition
from geocrawl.store.database.connection import Connection
from geocrawl.urls import service_endpoint
from tests.support.world import World, url, verdict

ATLAS = Service(
    kind=Kind.WMS,
    version="1.3.0",
    title="Atlas of Ruritania",
    provider="Survey Office",
    layers=tuple(Layer(name, name.title()) for name in ("roads", "rivers", "woods", "towns")),
    fingerprint="atlas",
)
TINY = replace(ATLAS, title="Roads", layers=ATLAS.layers[:1], fingerprint="tiny")
SAMPLES = replace(
    ATLAS,
    title="GeoServer Web Map Service",
    layers=tuple(Layer(f"topp:{name}", name) for name in ("states", "tasmania_roads", "tasmania_cities", "water")),
    fingerprint="samples",
)


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url)


def record(world: World, address: str, service: Service | None) -> None:
    world.clock.time += 1
    endpoint = service_endpoint(service.kind if service else Kind.WMS, url(address))
    found = verdict("ok" if service else "http-404", service)
    world.record(Candidate(endpoint, Evidence("query")), found, world.clock.now())


def clusters(connection: Connection) -> set[frozenset[str]]:
    members: dict[int, set[str]] = {}
    for address, service in connection.execute("SELECT url, service_id FROM endpoint WHERE service_id IS NOT NULL"):
        members.setdefault(service, set()).add(address.partition("://")[2])
    return {frozenset(each) for each in members.values()}


def one_cluster(world: World, *texts: str) -> bool:
    return frozenset(text.partition("://")[2] for text in texts) in clusters(world.database.connection)


@pytest.mark.parametrize(
    ("one", "other", "service"),
    [
        ("http://a.example/geoserver/x/ows", "http://a.example/geoserver/x/wms", TINY),
        ("http://www.a.example/wms", "http://a.example/wms", TINY),
        ("http://a.example/WMS", "http://a.example/wms/", TINY),
        ("http://maps1.a.example/wms", "http://maps2.a.example/wms", ATLAS),
        ("http://a.maps.example/wms", "http://c.maps.example/wms", ATLAS),
        ("http://a.example:8080/wms", "https://a.example/wms", ATLAS),
        ("http://a.example/wms/atlas", "http://a.example/cgi-bin/mapserv?map=atlas.map", ATLAS),
        ("http://maps.a.example/wms", "http://gis.a.example/ows", ATLAS),
    ],
)
def test_one_service_at_two_addresses_is_one(world: World, one: str, other: str, service: Service) -> None:
    record(world, one, service)
    record(world, other, service)
    assert one_cluster(world, one, other)
    (why,) = why_same(world.database.connection, 1)
    assert why.same
    assert why.signal in ("document", "host", "path", "port", "node")


@pytest.mark.parametrize(
    ("one", "other", "service"),
    [
        ("http://a.example/wms/1", "http://a.example/wms/2", TINY),
        ("http://maps1.a.example/wms", "http://maps2.a.example/wms", TINY),
        ("http://a.example:8080/wms", "http://a.example/wms", TINY),
        ("http://a.example/wms", "http://b.example/wms", ATLAS),
        ("http://a.example/geoserver/wms", "http://b.example/geoserver/wms", SAMPLES),
        ("http://a.example/one/wms", "http://a.example/two/wms", SAMPLES),
        ("http://maps.a.example/wms", "http://gis.a.example/ows", replace(ATLAS, provider="")),
    ],
)
def test_two_services_with_equal_test_data_or_little_to_say_stay_two(
    world: World, one: str, other: str, service: Service
) -> None:
    record(world, one, service)
    record(world, other, service)
    assert not one_cluster(world, one, other)


def test_a_title_is_never_evidence(world: World) -> None:
    record(world, "http://www.a.example/wms", ATLAS)
    record(world, "http://a.example/wms", replace(TINY, title=ATLAS.title))
    assert len(clusters(world.database.connection)) == 2


def test_the_same_items_at_a_nodes_address_are_evidence_though_the_texts_differ(world: World) -> None:
    record(world, "http://maps1.a.example/wms", ATLAS)
    record(world, "http://maps2.a.example/wms", replace(ATLAS, abstract="of today", fingerprint="today"))
    assert one_cluster(world, "http://maps1.a.example/wms", "http://maps2.a.example/wms")
    assert [each.signal for each in why_same(world.database.connection, 1)] == ["layers"]


def test_hosts_of_two_sites_are_one_when_the_document_names_one_of_them(world: World) -> None:
    named = replace(ATLAS, online_resource="https://maps.a.example/wms?")
    record(world, "http://maps.a.example/wms", named)
    record(world, "http://proxy.b.example/atlas", named)
    assert one_cluster(world, "http://maps.a.example/wms", "http://proxy.b.example/atlas")


def test_kinds_at_one_address_are_services_of_their_own(world: World) -> None:
    record(world, "http://a.example/ows", ATLAS)
    record(world, "http://a.example/ows", replace(ATLAS, kind=Kind.WFS))
    assert world.catalog.counts()["services"] == 2


ADDRESSES = (
    "http://maps1.a.example/geoserver/ows",
    "https://maps.a.example/geoserver/wms",
    "http://maps2.a.example:8080/geoserver/wms",
    "http://b.example/wms",
)


@pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
def test_clusters_content_and_best_address_do_not_depend_on_the_order_of_probes(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    services = (ATLAS, replace(ATLAS, abstract="the best", fingerprint="best"), ATLAS, ATLAS)
    world = World(tmp_path / f"{order}.db")
    for index in order:
        record(world, ADDRESSES[index], services[index])
    connection = world.database.connection
    assert clusters(connection) == {
        frozenset(address.partition("://")[2] for address in ADDRESSES[:3]),
        frozenset({"b.example/wms"}),
    }
    (one,) = addresses_at(connection, url(ADDRESSES[0]))
    assert addresses_of(connection, one.service_id)[0].url == ADDRESSES[1]
    content = connection.execute("SELECT abstract FROM service WHERE id = ?", (one.service_id,)).fetchone()
    assert content == ("the best",)
    left = connection.execute("SELECT count(*), count(DISTINCT service_id) FROM layer").fetchone()
    assert left == (8, 2)


def test_the_best_address_is_one_that_is_valid(world: World) -> None:
    record(world, "https://a.example/wms", ATLAS)
    record(world, "http://www.a.example/wms/", ATLAS)
    assert addresses_of(world.database.connection, 1)[0].url == "https://a.example/wms"
    record(world, "https://a.example/wms", None)
    assert addresses_of(world.database.connection, 1)[0].url == "http://www.a.example/wms/"


def say(world: World, one: str, other: str, *, same: bool) -> None:
    connection = world.database.connection
    decided = list(product(addresses_at(connection, url(one)), addresses_at(connection, url(other))))
    assert decided
    for first, second in decided:
        world.catalog.decide((first.endpoint_id, second.endpoint_id), same=same, at=world.clock.now())


def test_what_a_person_parts_stays_parted_when_it_is_probed_again(world: World) -> None:
    one, other = "http://www.a.example/wms", "http://a.example/wms"
    for address in (one, other):
        record(world, address, ATLAS)
    say(world, one, other, same=False)
    assert len(clusters(world.database.connection)) == 2
    texts = world.database.connection.execute("SELECT count(*) FROM search_text").fetchone()
    assert texts == (2,)
    for address in (other, one, other):
        record(world, address, replace(ATLAS, fingerprint="next"))
    assert len(clusters(world.database.connection)) == 2
    say(world, one, other, same=True)
    assert one_cluster(world, one, other)


def test_of_a_huge_cluster_a_bounded_part_is_regrouped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [f"http://maps{number}.a.example/wms" for number in range(60)]
    for address in addresses:
        record(world, address, ATLAS)
    connection = world.database.connection
    monkeypatch.setattr("geocrawl.store.catalogue.write.clusters.MOST_REGROUPED", 20)
    say(world, addresses[0], addresses[1], same=False)
    assert sorted(len(each) for each in EndpointClusters(connection).clusters_around(31)) == [1, 19]
    record(world, addresses[30], replace(ATLAS, title="Atlas, second edition", fingerprint="next"))
    assert sorted(len(each) for each in clusters(connection)) == [1, 59]


def test_what_a_person_joins_stays_joined_when_it_is_probed_again(world: World) -> None:
    one, other = "http://a.example/wms", "http://b.example/ows"
    record(world, one, ATLAS)
    record(world, other, TINY)
    say(world, one, other, same=True)
    assert one_cluster(world, one, other)
    for service in (TINY, replace(TINY, fingerprint="next")):
        record(world, other, service)
    assert one_cluster(world, one, other)
    assert world.catalog.counts()["services"] == 1
    say(world, one, other, same=False)
    assert len(clusters(world.database.connection)) == 2


def test_a_person_parts_two_that_a_third_joins(world: World) -> None:
    texts = ("http://www.a.example/wms", "http://a.example/wms", "http://a.example/WMS")
    for address in texts:
        record(world, address, ATLAS)
    assert one_cluster(world, *texts)
    say(world, texts[0], texts[2], same=False)
    found = clusters(world.database.connection)
    assert len(found) == 2
    assert not any({text.partition("://")[2] for text in (texts[0], texts[2])} <= each for each in found)


def test_many_addresses_of_one_service_cost_little_and_stay_one(world: World) -> None:
    for number in range(300):
        record(world, f"http://a.example/wms/{number}", ATLAS)
    assert world.catalog.counts()["services"] == 1
    edges = world.database.connection.execute("SELECT count(*) FROM same_service").fetchone()[0]
    assert edges <= 8 * 300
    record(world, "http://a.example/wms/0", TINY)
    assert world.catalog.counts()["services"] == 2
    left = world.database.connection.execute("SELECT count(*) FROM endpoint WHERE service_id = 1").fetchone()[0]
    assert left in (1, 299)


edges = st.lists(
    st.builds(Edge, st.integers(0, 3), st.integers(0, 7), st.integers(0, 7), st.booleans()), max_size=25
).map(lambda found: [edge for edge in found if edge.first < edge.second])


@given(edges, st.randoms())
def test_a_partition_holds_all_parts_none_together_and_is_the_same_in_any_order(
    found: list[Edge], random: Random
) -> None:
    clusters_ = partition(range(8), found)
    assert sorted(number for each in clusters_ for number in each) == list(range(8))
    for edge in found:
        if not edge.same:
            assert not any(edge.first in each and edge.second in each for each in clusters_)
    numbers, shuffled = list(range(8)), list(found)
    random.shuffle(numbers)
    random.shuffle(shuffled)
    assert partition(numbers, shuffled) == clusters_


def described(number: int, address: str, service: Service) -> Description:
    endpoint: Endpoint = service_endpoint(service.kind, url(address))
    return replace(describe(number, endpoint.key, service), calls_itself="")


@given(st.sampled_from(ADDRESSES), st.sampled_from(ADDRESSES), st.sampled_from((ATLAS, TINY, SAMPLES)), st.booleans())
def test_a_match_is_the_same_for_both_orders(one: str, other: str, service: Service, equal: bool) -> None:
    first, second = described(1, one, service), described(2, other, service if equal else ATLAS)
    assert match(first, second) == match(second, first)
