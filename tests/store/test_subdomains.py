"""Statements about a host and what lies beneath it touch no host whose name only looks alike."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Text, bindparam, select

from geocrawl.model import Kind, Service
from geocrawl.settings import Settings
from geocrawl.store.database.constructs import is_host_or_subdomain
from geocrawl.store.database.core import compiler
from geocrawl.store.upkeep.forget import RemovalCounts, forget
from geocrawl.urls import is_within_domains
from tests.support.invariants import check_invariants
from tests.support.world import World, candidate, link, verdict

HOST = "a_b.example"
ALIKE = ("a-b.example", "axb.example", "x.a-b.example", "xa_b.example")
_QUESTION = select(is_host_or_subdomain(bindparam("host", type_=Text), "domain"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "c.db", Settings(delay_s=0, max_fruitless_per_pattern=10, max_late_per_pattern=0))


def endpoints(world: World) -> list[str]:
    rows = world.database.connection.execute("SELECT host FROM endpoint ORDER BY host")
    return [row[0] for row in rows]


@pytest.mark.parametrize("probed", [True, False])
def test_forgetting_a_host_leaves_endpoints_of_hosts_with_names_alike(world: World, probed: bool) -> None:
    world.seed("good.example/")
    world.frontier.add_candidates([candidate(f"http://{host}/wms") for host in (HOST, f"x.{HOST}", *ALIKE)])
    while probed and (lease := world.frontier.lease(pages=False)):
        world.settle(lease, verdict=verdict(service=Service(Kind.WMS, "1.3.0", lease.entry.url.host)))
    services = 2 if probed else 0
    assert forget(world.database, HOST, "", 5.0) == RemovalCounts(pages=0, endpoints=2, services=services)
    assert endpoints(world) == sorted(ALIKE)
    check_invariants(world.database.connection)
    while lease := world.frontier.lease():
        world.settle(lease, verdict=verdict("html") if lease.entry.candidate else None)


def test_a_probe_whose_endpoint_is_gone_is_refused_and_not_leased(world: World) -> None:
    world.seed("good.example/")
    world.frontier.add_candidates([candidate("http://x.example/wms")])
    with world.database.transaction:
        world.database.connection.execute("UPDATE url SET endpoint_id = NULL WHERE purpose = 'probe'")
    assert world.lease().entry.url.host == "good.example"
    row = world.database.connection.execute("SELECT state, reason FROM url WHERE purpose = 'probe'").fetchone()
    assert row == ("refused", "forgotten")


def test_evidence_on_pages_of_a_host_alike_stays(world: World) -> None:
    found = [candidate("http://maps.example/wms", page=f"http://{host}/p") for host in (HOST, "a-b.example")]
    world.frontier.add_candidates(found)
    forget(world.database, HOST, "", 5.0)
    pages = world.database.connection.execute("SELECT page FROM evidence").fetchall()
    assert pages == [("http://a-b.example/p",)]


def test_releasing_a_site_leaves_what_is_quarantined_of_one_alike(world: World) -> None:
    connection = world.database.connection
    world.seed("good.example/")
    world.settle(world.lease(), link(f"{HOST}/p"), link("x.a-b.example/p"))
    with world.database.transaction:
        connection.execute("UPDATE site SET held_at = 1, held_for = 'x'")
    while world.frontier.lease():
        raise AssertionError("all sites are quarantined")
    assert connection.execute("SELECT count(*) FROM url WHERE reason = 'held'").fetchone() == (2,)
    assert world.frontier.release_site(HOST) == 1
    assert world.row("x.a-b.example/p")[:2] == ("refused", "held")


def test_releasing_a_site_reopens_no_spent_pattern_of_one_alike(world: World) -> None:
    world.seed("good.example/")
    world.settle(world.lease(), *[link(f"x.a-b.example/{n}") for n in range(30)])
    while lease := world.frontier.lease():
        world.settle(lease)
    spent = "SELECT count(*) FROM url WHERE reason = 'trap:pattern'"
    assert world.database.connection.execute(spent).fetchone() == (20,)
    assert world.frontier.release_site(HOST) is None


@pytest.mark.parametrize("domain", [HOST, "example", "b.example", "%.example", "A_b.example", "[2001:db8::1]"])
def test_the_condition_says_what_is_beneath_says(domain: str) -> None:
    connection = sqlite3.connect(":memory:")
    for host in (HOST, f"x.{HOST}", *ALIKE, "example", "b.example", "c.b.example", "notexample", "[2001:db8::1]"):
        values = {"domain": domain, "host": host}
        asked = compiler("sqlite").prepared(_QUESTION, values)
        (found,) = connection.execute(asked.text(values), asked.bind(values)).fetchone()
        assert bool(found) is is_within_domains(host, {domain}), host
