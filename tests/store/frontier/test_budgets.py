"""Traps cost what they may cost, and what bears fruit is not cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from geocrawl.model import Kind, RankedLink, Relevance, Service, State, Visit
from geocrawl.settings import Settings
from geocrawl.store.frontier.budgets import quarantined_sites
from tests.support.invariants import check_invariants
from tests.support.world import World, candidate, link, verdict

Links = Callable[[int], list[RankedLink]]
DEEP = 10**6


@pytest.fixture
def world(engine_url: str) -> Iterator[World]:
    made = World(engine_url, Settings(delay_s=0, max_depth=DEEP, max_alike_services=20, max_late_per_pattern=0))
    yield made
    check_invariants(made.database.connection)


def walk(world: World, links: Links, most: int = 2000) -> int:
    """Visit pages until nothing waits; the n-th page has `links(n)`. Returns how many were asked beside the seed."""
    world.seed("trap.example/")
    asked = 0
    while (lease := world.frontier.lease()) and asked < most:
        world.settle(lease, *links(asked))
        asked += 1
    return asked - 1


TRAPS: dict[str, Links] = {
    "calendar": lambda n: [link(f"trap.example/cal/{2000 + n // 12}/{n % 12 + 1}?view={n}"), link("trap.example/")],
    "session": lambda n: [link(f"trap.example/page;s={n:032x}")],
    "parameters": lambda n: [link(f"trap.example/list?page={n}"), link(f"trap.example/list?page={n}&page={n + 1}")],
    "facets": lambda n: [link(f"trap.example/find?colour={n % 7}&size={n // 7}")],
    "numbered hosts": lambda n: [link(f"n{n}.trap.example/")],
    "hashes": lambda n: [link(f"trap.example/o/{n * 2654435761 % 2**64:016x}")],
}


def only_on_sqlite(world: World) -> None:
    """Skip a test of thousands of visits where each takes long; what decides there knows no engine."""
    if world.database.connection.engine != "sqlite":
        pytest.skip("thousands of visits")


@pytest.mark.parametrize("name", TRAPS)
def test_a_pattern_that_brings_nothing_costs_at_most_300_requests(world: World, name: str) -> None:
    if name != "calendar":
        only_on_sqlite(world)  # how addresses make a pattern knows no engine
    assert walk(world, TRAPS[name]) <= 300
    assert world.database.connection.execute("SELECT value FROM counter WHERE name = 'refused:trap:pattern'").fetchone()


def test_a_pattern_that_leads_to_services_is_never_cut_off(world: World) -> None:
    """A listing whose pages bring nothing themselves, and data sets of which one in fifty names a service."""
    only_on_sqlite(world)
    world.seed("portal.example/")
    asked = found = 0
    while lease := world.frontier.lease():
        address = lease.entry.url.address
        if lease.entry.purpose == "probe":
            world.settle(lease, verdict=verdict(service=Service(Kind.WMS, "1.3.0", "a", fingerprint=address)))
            continue
        asked += 1
        number = int(address.rpartition("=")[2].rpartition("/")[2] or 0)
        links, named = [], []
        if "?page" in address or address.endswith("e/"):
            links = [link(f"portal.example/data/{number * 10 + i}") for i in range(10)]
            links += [link(f"portal.example/?page={number + 1}", 4)] if number < 200 else []
        elif number % 50 == 0:
            named = [(candidate(f"http://host{number}.test/wms?service=WMS"), None)]
            found += 1
        world.settle(lease, *links, candidates=named)
    assert (asked, found) == (1 + 200 + 2010, 41)


def test_pages_of_changing_relevance_do_bring_something(world: World) -> None:
    world.seed("trap.example/")
    for n in range(500):
        lease = world.lease()
        relevance = Relevance.HIGH if n % 2 else Relevance.NONE
        links = (link(f"trap.example/{n}"),)
        world.frontier.settle(
            Visit(lease, State.VISITED, "ok", lease.host, n, http_status=200, links=links, relevance=relevance)
        )


def test_services_that_look_alike_hold_their_site_until_a_person_has_looked(world: World) -> None:
    world.seed("alike.example/", "other.example/")
    world.frontier.add_candidates([candidate(f"http://alike.example/wms?map={n}") for n in range(30)])
    probed = 0
    while lease := world.frontier.lease():
        probed += lease.entry.purpose == "probe"
        if lease.entry.purpose == "probe":
            world.settle(lease, verdict=verdict(service=Service(Kind.WMS, "1.3.0", "a", fingerprint=str(probed))))
        else:
            world.settle(lease, link("alike.example/more"), link("other.example/more"))
    connection = world.database.connection
    assert probed == 20
    assert [(each.site, each.pattern) for each in quarantined_sites(connection)] == [
        ("alike.example", "wms alike.example/wms?map")
    ]
    assert world.row("alike.example/more")[:2] == ("refused", "held")
    assert world.row("other.example/more")[0] == "visited"
    world.clock.time += 400 * 86_400.0
    assert world.frontier.reprobe(world.clock.now(), 100) == 20, "what was valid is still watched"
    assert world.lease().entry.purpose == "probe"
    assert world.frontier.release_site("alike.example") == 11
    assert (quarantined_sites(connection), world.frontier.release_site("alike.example")) == ((), None)


def test_services_that_never_are_valid_end_their_pattern(world: World) -> None:
    only_on_sqlite(world)
    world.seed("trap.example/")
    probed = 0
    for n in range(2000):
        lease = world.frontier.lease()
        if lease is None:
            break
        if lease.entry.purpose == "probe":
            probed += 1
            world.settle(lease, verdict=verdict("html"))
        else:
            named = [(candidate(f"http://trap.example/wms?map={n}", weak=True), link(f"trap.example/map?m={n}"))]
            world.settle(lease, link(f"trap.example/{n}"), candidates=named)
    assert probed == 300


def read_listing(world: World, entries: int, *, finds: int) -> list[str]:
    """Read ten pages of a list: each names a tenth of the entries, which bring nothing, and the first `finds` pages
    name a map, too, which brings an endpoint. Last comes a page without a pattern. Returns the pages in order."""
    world.seed("portal.example/")
    pages = [link(f"portal.example/list?page={n}", 9) for n in range(10)]
    world.settle(world.lease(), *pages, link("portal.example/last", 1))
    asked = []
    while lease := world.frontier.lease():
        address = lease.entry.url.address
        if lease.entry.purpose == "probe":
            world.settle(lease, verdict=verdict("html"))
            continue
        number = 0 if "/last" in address else int(address.replace("=", "/").rpartition("/")[2] or 0)
        asked.append(address.removeprefix("http://portal.example/"))
        if "list?page" in address:
            maps = [link(f"portal.example/map/{number}", 8)] if number < finds else []
            world.settle(lease, *[link(f"portal.example/data/{n}") for n in range(number, entries, 10)], *maps)
        elif "/map/" in address:
            world.settle(lease, candidates=[(candidate(f"http://maps{number}.test/wms?service=WMS"), None)])
        else:
            world.settle(lease)
    return asked


def test_entries_of_a_listing_are_all_read_in_the_end(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0))
    asked = read_listing(world, 1000, finds=0)
    entries = [page for page in asked if page.startswith("data/")]
    assert len(set(entries)) == len(entries) == 1000
    assert asked.index("last") == 10 + 300, "what else waits comes first"
    assert refused(world) == 0
    check_invariants(world.database.connection)


def test_a_listing_that_still_brings_finds_elsewhere_is_not_closed(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0))
    asked = read_listing(world, 1000, finds=3)
    assert len(asked) == 10 + 3 + 1000 + 1 and asked[-1] == "last"


def test_entries_of_a_listing_are_served_late_up_to_a_limit_that_outlives_the_process(tmp_path: Path) -> None:
    path, settings = tmp_path / "c.db", Settings(delay_s=0, max_late_per_pattern=400)
    asked = read_listing(World(path, settings), 1000, finds=0)
    assert sum(page.startswith("data/") for page in asked) == 700
    world = World(path, settings)
    assert world.frontier.lease() is None and refused(world) == 300


@pytest.mark.parametrize(("errors", "rest_s", "is_reopened"), [(3, 60.0, True), (0, 9999.0, True), (0, 60.0, False)])
def test_what_was_refused_is_served_late_though_a_dead_host_or_one_that_rests_for_hours_has_pages(
    tmp_path: Path, errors: int, rest_s: float, is_reopened: bool
) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0, max_late_per_pattern=400))
    world.seed("dead.example/")
    world.settle(world.lease(), *(link(f"dead.example/{n}") for n in range(9)), next_at=world.clock.now() + rest_s)
    world.database.connection.execute("UPDATE host SET errors = ?", (errors,))
    asked = read_listing(world, 1000, finds=0)
    assert (len([page for page in asked if page.startswith("data/")]) > 300) == is_reopened


def spend(world: World) -> int:
    """Page 0 of a pattern leads to a data set that is read last; 400 more pages bring nothing. Returns how many of
    these are refused."""
    world.seed("trap.example/")
    world.settle(world.lease(), link("trap.example/list/0", 8))
    world.settle(world.lease(), link("trap.example/late", 1), *[link(f"trap.example/list/{n}") for n in range(1, 400)])
    while (lease := world.frontier.lease()) and not lease.entry.url.address.endswith("late"):
        world.settle(lease)
    assert lease is not None
    world.settle(lease, candidates=[(candidate("http://maps.example/wms?service=WMS"), None)])
    return refused(world)


def refused(world: World) -> int:
    row = world.database.connection.execute("SELECT value FROM counter WHERE name = 'refused:trap:pattern'").fetchone()
    return int(row[0])


def test_what_was_refused_waits_again_when_a_find_comes_late(world: World) -> None:
    assert spend(world) == 100
    probe = world.lease()
    assert probe.entry.purpose == "probe", "all else that waits comes first"
    world.settle(probe, verdict=verdict("html"))
    asked = []
    while lease := world.frontier.lease():
        asked.append(lease.entry.url.address)
        world.settle(lease)
    assert asked == [f"http://trap.example/list/{n}" for n in range(300, 400)] and refused(world) == 0


def test_a_find_lets_no_more_wait_than_it_buys_and_a_killed_process_changes_nothing(tmp_path: Path) -> None:
    path, settings = tmp_path / "c.db", Settings(delay_s=0, max_fruitless_per_pattern=30, max_late_per_pattern=0)
    before = spend(World(path, settings))
    world = World(path, settings)
    assert before == 370
    while lease := world.frontier.lease():
        world.settle(lease, verdict=verdict("html") if lease.entry.purpose == "probe" else None)
    assert refused(world) == 340
    check_invariants(world.database.connection)


def test_endpoints_that_were_refused_for_their_pattern_wait_again_after_a_valid_one(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0, max_fruitless_per_pattern=5, max_late_per_pattern=0))
    world.frontier.add_candidates([candidate("http://b.alike.example/wms?map=0")])
    slow = world.lease()
    world.frontier.add_candidates([candidate(f"http://a.alike.example/wms?map={n}") for n in range(1, 10)])
    while lease := world.frontier.lease():
        world.settle(lease, verdict=verdict("html"))
    assert refused(world) == 4
    world.settle(slow, verdict=verdict(service=Service(Kind.WMS, "1.3.0", "a", fingerprint="a")))
    assert world.frontier.lease() is not None and refused(world) == 0
    check_invariants(world.database.connection)


def test_a_person_who_has_looked_lets_refused_pages_be_asked_again(world: World) -> None:
    only_on_sqlite(world)
    assert spend(world) == 100
    world.settle(world.lease(), verdict=verdict("html"))
    walked = 0
    while lease := world.frontier.lease():
        walked += 1
        more = range(1000, 1500) if walked == 1 else ()
        world.settle(lease, *[link(f"trap.example/list/{n}") for n in more])
    assert walked == 300 and refused(world) == 300
    assert world.frontier.release_site("trap.example") == 300
    assert world.frontier.release_site("other.example") is None
    while lease := world.frontier.lease():
        walked += 1
        world.settle(lease)
    assert walked == 600 and refused(world) == 0


def test_a_site_has_so_many_hosts_and_their_names_decide_which(tmp_path: Path) -> None:
    kept = set()
    for order in (1, -1):
        world = World(tmp_path / f"{order}.db", Settings(max_hosts_per_site=100))
        world.seed("a.example/")
        names = [
            f"{word}{other}.trap.example/" for word in map(chr, range(97, 123)) for other in map(chr, range(97, 123))
        ]
        world.settle(world.lease(), *[link(name) for name in names[::order]])
        asked = frozenset(lease.host.name for lease in iter(world.frontier.lease, None) if lease)
        assert 70 < len(asked) < 130
        kept.add(asked)
    assert len(kept) == 1
