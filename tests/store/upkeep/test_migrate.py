"""A catalogue that is copied into the other engine and back is the same, and crawls go on in the copy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.errors import DatabaseFault
from geocrawl.model import Kind, Rank, RobotsRecord, Service, StoredPage
from geocrawl.settings import Settings
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.store import Store
from geocrawl.store.upkeep.migrate import TableSum, migrate
from tests.daemon.test_faults import fill, small_disk
from tests.support.invariants import check_invariants
from tests.support.world import ManualClock, World, candidate, link, verdict


def filled(url: str) -> World:
    """A catalogue with rows in most tables: pages, hosts, a service with layers, a kept page, a robots.txt, a run."""
    world = World(url, learns=True)
    run = world.store.start_run("gws", world.settings)
    world.seed("a.example/", "b.example/")
    found = [(candidate("maps.example/wms?service=WMS"), None)]
    page = StoredPage("utf-8", b"body \0 of a page", 0.5)
    world.settle(
        world.lease(), *[link(f"h{n}.example/Straße-{n}?q={n}") for n in range(30)], candidates=found, stored=page
    )
    service = Service(Kind.WMS, "1.3.0", "Böden", abstract="a\0b", keywords=("土地", "sols"))
    world.settle(world.lease(), verdict=verdict(service=service))
    world.store.end_run(run, pages=1, services=1, stopped="ended")
    return world


def copied(source: str, target: str) -> dict[str, TableSum]:
    return dict(migrate(source, target, ManualClock(), lambda table, rows: None))


async def test_there_and_back_again_is_the_same(tmp_path: Path, postgres_url: str) -> None:
    first, last = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    world = filled(first)
    await world.store.politeness(world.settings).write_robots(
        RobotsRecord("http://a.example", 200, "User-agent: *\n" * 50, 1.0, 2.0)
    )
    world.store.close()
    there = copied(first, postgres_url)
    back = copied(postgres_url, last)
    assert there == back
    assert {name for name, found in there.items() if found.rows} >= {
        "url",
        "host",
        "service",
        "endpoint",
        "robots",
        "run",
    }
    with Store.open_readonly(postgres_url) as connection, Store.open_readonly(last) as others:
        for each in (connection, others):
            hits = search_engine(each).search("böden").hits
            assert [hit.title for hit in hits] == ["Böden"]


def test_a_crawl_goes_on_in_the_copy_in_the_same_order(tmp_path: Path, postgres_url: str) -> None:
    first = f"sqlite:///{tmp_path / 'a.db'}"
    filled(first).store.close()
    copied(first, postgres_url)
    worlds = [World(first), World(postgres_url)]
    visited = [[world.visit(link(f"new{n}.example/")) for n in range(12)] for world in worlds]
    assert visited[0] == visited[1]
    for world in worlds:
        assert world.record(candidate("more.example/wms"), verdict(service=Service(Kind.WMS, "1", "More")), 5.0)
        check_invariants(world.database.connection)


def test_a_full_target_and_a_source_at_work_are_refused(tmp_path: Path, postgres_url: str) -> None:
    first, second = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    filled(first).store.close()
    world = World(second)
    world.seed("z.example/")
    world.store.close()
    with pytest.raises(DatabaseFault, match="holds a catalogue already"):
        copied(first, second)
    with pytest.raises(DatabaseFault, match="no such catalogue to copy; the first argument"):
        copied(f"sqlite:///{tmp_path / 'nothing.db'}", postgres_url)


def test_a_process_that_writes_to_the_source_meanwhile_is_not_seen(tmp_path: Path, postgres_url: str) -> None:
    first, second = f"sqlite:///{tmp_path / 'a.db'}", postgres_url
    filled(first).store.close()

    def late(table: str, rows: int) -> None:
        if table == "host":
            other = World(first)
            other.seed("late.example/")
            other.store.close()

    sums = dict(migrate(first, second, ManualClock(), late))
    world = World(second)
    assert world.database.connection.execute("SELECT count(*) FROM host WHERE name = 'late.example'").fetchone() == (0,)
    assert sums["url"].rows == world.database.connection.execute("SELECT count(*) FROM url").fetchone()[0] > 30
    check_invariants(world.database.connection)


def test_what_arrives_otherwise_is_told(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = f"sqlite:///{tmp_path / 'a.db'}"
    filled(first).store.close()
    from geocrawl.store.upkeep import migrate

    real = migrate._copy

    def losing(*arguments: object) -> TableSum:
        count = real(*arguments)  # type: ignore[arg-type]
        database = arguments[1]
        database.connection.execute("UPDATE url SET score = 0.25 WHERE address LIKE '%q=7'")  # type: ignore[attr-defined]
        return count

    monkeypatch.setattr(migrate, "_copy", losing)
    with pytest.raises(DatabaseFault, match="the table url arrived otherwise"):
        copied(first, postgres_url)
    monkeypatch.undo()
    with pytest.raises(DatabaseFault, match="only a part of"):
        copied(first, postgres_url)
    assert replace(TableSum(1, "a"), rows=2) != TableSum(1, "a") and Rank(1) < Rank(2)


def test_a_disk_that_fills_leaves_half_a_copy_and_says_so(tmp_path: Path) -> None:
    source = tmp_path / "a.db"
    filled(f"sqlite:///{source}").store.close()
    with small_disk(tmp_path / "disk") as disk:

        def fill_after_the_first_table(table: str, rows: int) -> None:
            if not (disk / "other").exists():
                fill(disk / "other")

        copy = disk / "b.db"
        with pytest.raises(DatabaseFault) as failed:
            migrate(str(source), str(copy), ManualClock(), fill_after_the_first_table)
        advice = f"{copy} holds only a part of {source}: remove this copy and repeat the command"
        assert str(failed.value) == f"{copy}: the disk is full; {advice}"
        (disk / "other").unlink()
        with pytest.raises(DatabaseFault, match="holds only a part"):
            copied(str(source), str(copy))


async def test_half_a_copy_is_refused_by_everybody_until_it_is_removed(tmp_path: Path, shared_url: str) -> None:
    source = f"sqlite:///{tmp_path / 'a.db'}"
    filled(source).store.close()

    def killed(table: str, rows: int) -> None:
        if table == "url":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(source, shared_url, ManualClock(), killed)
    for attempt in (
        lambda: Store.open(shared_url, clock=ManualClock(), create=True),
        lambda: Store.join(shared_url, clock=ManualClock()),
        lambda: Store.open_readonly(shared_url).__enter__(),
        lambda: copied(source, shared_url),
    ):
        with pytest.raises(DatabaseFault, match=r"only a part of .*a\.db"):
            attempt()


@pytest.mark.parametrize("first", ["migrate", "other"])
async def test_the_first_to_write_into_an_empty_database_has_it(tmp_path: Path, shared_url: str, first: str) -> None:
    source = f"sqlite:///{tmp_path / 'a.db'}"
    filled(source).store.close()
    other = Store.open(shared_url, clock=ManualClock(), create=True)
    if first == "other":
        other.start_run("gws", Settings())
        with pytest.raises(DatabaseFault, match="holds a catalogue already"):
            copied(source, shared_url)
    else:

        def joined(table: str, rows: int) -> None:
            with pytest.raises(DatabaseFault, match="only a part of"):
                other.start_run("gws", Settings())

        migrate(source, shared_url, ManualClock(), joined)
    other.close()
