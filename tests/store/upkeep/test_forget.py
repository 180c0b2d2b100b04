"""Opting out: what is removed, what stays, and that nobody asks again."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.model import Attempt, ContentOutcome, ContentReport, Kind, Layer, Level, Service, State, StoredPage
from geocrawl.store.database.opt_out import read_blocked
from geocrawl.store.upkeep.forget import RemovalCounts, forget, undo
from geocrawl.urls import is_registry
from tests.support.invariants import check_foreign_keys, check_invariants
from tests.support.world import World, candidate, link, url, verdict

HOST = "bad.example"


def service(title: str) -> Service:
    return Service(Kind.WMS, "1.3.0", title, layers=(Layer("roads", f"roads of {title}"),), fingerprint=title)


def filled(database: str) -> World:
    """A page and services on the host, beneath it and elsewhere, each of the latter named by a page of the host."""
    world = World(database)
    world.seed(f"{HOST}/", "good.example/")
    wms = [
        candidate(f"http://{host}/wms?service=WMS", page=f"http://{HOST}/")
        for host in (HOST, f"a.{HOST}", "good.example")
    ]
    for lease in [world.lease() for _ in range(2)]:
        links = (link(f"x.{HOST}/p"), link("good.example/p"), link(f"not{HOST}/"))
        world.settle(lease, *links, candidates=[(each, None) for each in wms], stored=StoredPage("utf-8", b"body", 0.5))
    while probe := world.frontier.lease(pages=False):
        world.settle(probe, verdict=verdict(service=service(probe.entry.url.host)))
    return world


def everything(world: World) -> str:
    """All texts of the database in one."""
    connection = world.database.connection
    tables = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            if connection.engine == "sqlite"
            else "SELECT tablename FROM pg_tables WHERE schemaname = 'geocrawl'"
        )
    ]
    shown = [name for name in tables if name not in ("host", "blocked", "site") and not name.startswith("search_text_")]
    return "\n".join(str(row) for name in shown for row in connection.execute(f"SELECT * FROM {name}"))


def test_all_that_is_known_goes_and_the_rest_stays(engine_url: str) -> None:
    world = filled(engine_url)
    assert HOST in everything(world)
    assert forget(world.database, HOST, "asked to", 5.0) == RemovalCounts(pages=2, endpoints=2, services=2)
    left = everything(world).replace(f"not{HOST}", "")
    assert HOST not in left
    assert "good.example/wms" in left and "roads of good.example" in left
    assert [(row.host, row.reason) for row in read_blocked(world.database.connection)] == [(HOST, "asked to")]
    check_invariants(world.database.connection)
    check_foreign_keys(world.database.connection)


def test_nothing_of_it_comes_back_by_links_candidates_or_seeds(engine_url: str) -> None:
    world = filled(engine_url)
    forget(world.database, HOST, "", 5.0)
    assert world.seed(f"{HOST}/", f"http://www.{HOST}/new", again=True) == 0
    assert world.frontier.add_candidates([candidate(f"http://{HOST}/wms")], again=True) == 0
    while lease := world.frontier.lease():
        assert not lease.host.name.endswith(f".{HOST}") and lease.host.name != HOST
        found = [(candidate(f"http://{HOST}/ows"), None)]
        world.settle(lease, link(f"{HOST}/1"), link("third.example/"), candidates=found)
    assert HOST not in everything(world).replace(f"not{HOST}", "")
    assert world.row("third.example/")[0] == State.VISITED
    assert world.frontier.retry(reason="forgotten") == 0
    check_invariants(world.database.connection)


def test_a_visit_under_way_in_another_process_is_lost_and_its_memories_too(tmp_path: Path) -> None:
    first, second = filled(str(tmp_path / "c.db")), World(tmp_path / "c.db")
    first.seed(f"{HOST}/again", "good.example/again")
    held = [first.lease() for _ in range(2)]
    forget(second.database, HOST, "", 5.0)
    for lease in held:
        named = [(candidate(f"http://{HOST}/wms?service=WMS"), None), (candidate("http://good.example/wms"), None)]
        settled = first.settle(lease, link(f"{HOST}/"), link("good.example/p"), candidates=named)
        assert settled.ignored is (lease.host.name == HOST)
    assert HOST not in everything(first).replace(f"not{HOST}", "")
    check_invariants(first.database.connection)


def test_undone_it_is_new(engine_url: str) -> None:
    world = filled(engine_url)
    forget(world.database, HOST, "", 5.0)
    assert undo(world.database, HOST)
    assert not undo(world.database, HOST)
    assert world.seed(f"{HOST}/") == 1
    assert world.row(f"{HOST}/")[0] == State.WAITING
    check_invariants(world.database.connection)


def test_proofs_and_thumbnails_go_too(engine_url: str) -> None:
    world = World(engine_url)
    world.frontier.add_candidates([candidate(f"http://{HOST}/wms")])
    proof = ContentReport(
        Level.DELIVERS,
        (Attempt("roads", "EPSG:4326", ContentOutcome.OK, 1.0, "", f"http://{HOST}/wms?x"),),
        thumbnail=b"png",
    )
    connection = world.database.connection
    lease = world.lease()
    world.settle(lease, verdict=verdict(service=service("x")))
    world.frontier._settlement.content_reports.write(lease.entry.id and 1, proof, 1.0)
    forget(world.database, HOST, "", 5.0)
    for table in ("proof", "thumbnail", "endpoint", "probe", "service", "layer", "description", "evidence"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


@pytest.mark.parametrize(
    ("host", "expected"),
    [("com", True), ("co.uk", True), ("example.co.uk", False), ("192.0.2.1", False), ("2001:db8::1", False)],
)
def test_a_registry_is_no_host(host: str, expected: bool) -> None:
    assert is_registry(host) is expected


def test_two_spellings_of_a_host_are_one() -> None:
    assert url("http://BAD.example./").host == HOST


def test_the_former_number_of_a_service_of_the_host_leads_nowhere(engine_url: str) -> None:
    world = filled(engine_url)
    late = candidate(f"http://late.{HOST}/wms")
    world.record(late, verdict(service=service("late")), 1.0)
    connection = world.database.connection
    numbers = dict(connection.execute("SELECT host, id FROM endpoint").fetchall())
    world.catalog.decide((numbers["good.example"], numbers[f"late.{HOST}"]), same=True, at=1.0)
    assert len(connection.execute("SELECT old FROM service_alias").fetchall()) == 1
    forget(world.database, HOST, "asked by mail", 2.0)
    assert connection.execute("SELECT old FROM service_alias").fetchall() == []
