"""Traps cost what they may cost, and what bears fruit is not cut off."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from geocrawl.model import LATE_TIER, Candidate, Kind, Lease, RankedLink, Relevance, Service, State, Visit
from geocrawl.settings import Settings
from geocrawl.store.database.keys import page_key
from geocrawl.store.frontier.budgets import quarantined_sites
from tests.support.invariants import check_invariants
from tests.support.world import World, candidate, link, url, verdict

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
    """A listing whose pages bring nothing themselves, and data sets, one in fifty naming a service."""
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
    read = sum(page.startswith("data/") for page in asked)
    assert 660 <= read <= 740, "300 and about 400"
    world = World(path, settings)
    assert world.frontier.lease() is None and refused(world) == 1000 - read


@pytest.mark.parametrize(("errors", "rest_s", "is_served"), [(3, 60.0, True), (0, 9999.0, True), (0, 60.0, False)])
def test_what_waits_last_is_served_though_a_dead_host_or_one_that_rests_for_hours_has_pages(
    tmp_path: Path, errors: int, rest_s: float, is_served: bool
) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0, max_late_per_pattern=400))
    world.seed("dead.example/")
    world.settle(world.lease(), *(link(f"dead.example/{n}") for n in range(9)), next_at=world.clock.now() + rest_s)
    world.database.connection.execute("UPDATE host SET errors = ?", (errors,))
    asked = read_listing(world, 1000, finds=0)
    assert (len([page for page in asked if page.startswith("data/")]) > 300) == is_served


def spend(world: World) -> int:
    """Page 0 of a pattern leads to a data set that is read after 399 more pages, which bring nothing. Returns how many
    of these wait last."""
    world.seed("trap.example/")
    world.settle(world.lease(), link("trap.example/list/0", 8))
    world.settle(world.lease(), link("trap.example/late", 1), *[link(f"trap.example/list/{n}") for n in range(1, 400)])
    while (lease := world.frontier.lease()) and not lease.entry.url.address.endswith("late"):
        world.settle(lease)
    assert lease is not None
    world.settle(lease, candidates=[(candidate("http://maps.example/wms?service=WMS"), None)])
    return last(world)


def read_all(world: World) -> list[str]:
    """Visit what waits until nothing does; return the addresses of pages."""
    asked = []
    while lease := world.frontier.lease():
        if lease.entry.purpose == "probe":
            world.settle(lease, verdict=verdict("html"))
        else:
            asked.append(lease.entry.url.address)
            world.settle(lease)
    return asked


def count(world: World, counter: str) -> int:
    row = world.database.connection.execute("SELECT value FROM counter WHERE name = ?", (counter,)).fetchone()
    return int(row[0]) if row else 0


def refused(world: World) -> int:
    return count(world, "refused:trap:pattern")


def last(world: World, purpose: str = "page") -> int:
    """Return how many addresses wait in the lowest tier."""
    return count(world, f"{purpose}:waiting:{LATE_TIER}")


def test_pages_of_a_spent_pattern_wait_until_nothing_else_does(engine_url: str) -> None:
    world = World(engine_url, Settings(delay_s=0))
    assert spend(world) == 100
    probe = world.lease()
    assert probe.entry.purpose == "probe" and world.frontier.lease() is None, "while anything else is under way"
    world.settle(probe, verdict=verdict("html"))
    asked = read_all(world)
    assert sorted(asked) == sorted(f"http://trap.example/list/{n}" for n in range(300, 400))
    assert (refused(world), last(world)) == (0, 0)
    check_invariants(world.database.connection)


def test_a_better_link_brings_nothing_up_that_waits_last_but_a_person_does() -> None:
    world = World("sqlite://", Settings(delay_s=0))
    spend(world)
    world.settle(world.lease(), verdict=verdict("html"))
    world.settle(world.lease(), *[link(f"trap.example/list/{n}", 9) for n in range(300, 400)])
    assert last(world) == 99
    waits = "SELECT address FROM url WHERE state = 'waiting' LIMIT 1"
    (address,) = world.database.connection.execute(waits).fetchone()
    world.seed(address)
    assert world.lease().entry.url.address == address


def test_of_what_waits_last_the_least_keys_are_asked_and_a_killed_process_changes_nothing(tmp_path: Path) -> None:
    path, settings = tmp_path / "c.db", Settings(delay_s=0, max_fruitless_per_pattern=30)
    assert spend(World(path, settings)) == 370
    world = World(path, settings)
    asked = read_all(world)
    keys = {address: page_key(url(address).identity) for address in asked}
    assert 40 <= len(asked) <= 80, "as many as the budget of a pattern with one find"
    assert [*keys.values()] == sorted(keys.values()) and refused(world) == 370 - len(asked)
    least = "SELECT min(key) FROM url WHERE state = 'refused' AND reason = 'trap:pattern'"
    assert max(keys.values()) < world.database.connection.execute(least).fetchone()[0]
    check_invariants(world.database.connection)


def test_endpoints_of_a_spent_pattern_are_asked_last(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0, max_fruitless_per_pattern=5))
    world.frontier.add_candidates([candidate("http://b.alike.example/wms?map=0")])
    slow = world.lease()
    world.frontier.add_candidates([candidate(f"http://a.alike.example/wms?map={n}") for n in range(1, 10)])
    while lease := world.frontier.lease():
        world.settle(lease, verdict=verdict("html"))
    assert (last(world, "probe"), refused(world)) == (4, 0)
    world.settle(slow, verdict=verdict(service=Service(Kind.WMS, "1.3.0", "a", fingerprint="a")))
    read_all(world)
    assert (last(world, "probe"), refused(world)) == (0, 0)
    check_invariants(world.database.connection)


def test_a_person_who_has_looked_lets_refused_pages_be_asked(world_with_late_pages: World) -> None:
    world = world_with_late_pages
    spend(world)
    before = len(read_all(world))
    left = refused(world)
    assert world.frontier.release_site("trap.example") == left > 200
    assert world.frontier.release_site("other.example") is None
    assert before / 2 < len(read_all(world)) < 2 * before
    check_invariants(world.database.connection)


@pytest.fixture
def world_with_late_pages(engine_url: str) -> World:
    return World(engine_url, Settings(delay_s=0, max_fruitless_per_pattern=30))


# --------------------------------------------------------------------------- a web without end


def read_endless_web(workers: int) -> tuple[frozenset[str], dict[str, int]]:
    """Read a web with a calendar, session ids and a long list of data sets, so many visits at once, which end in an
    order drawn by lot. Returns the valid endpoints and the requests by host."""
    world = World("sqlite://", Settings(delay_s=0, max_fruitless_per_pattern=50))
    rng, asked, under_way = random.Random(workers), Counter[str](), list[Lease]()
    world.seed("list.example/", "cal.example/", "shop.example/", "news.example/")
    while True:
        while len(under_way) < workers and (lease := world.frontier.lease()):
            under_way.append(lease)
        if not under_way:
            break
        lease = under_way.pop(rng.randrange(len(under_way)))
        url = lease.entry.url
        asked[url.host] += 1
        if lease.entry.purpose == "probe":
            world.settle(lease, verdict=verdict(service=Service(Kind.WMS, "1.3.0", "a", fingerprint=url.address)))
        else:
            links, named = endless_page(url.host, int(re.search(r"(\d*)$", url.address)[1] or 0))  # type: ignore[index]
            world.settle(lease, *links, candidates=[(each, None) for each in named])
    check_invariants(world.database.connection)
    valid = world.database.connection.execute("SELECT url FROM endpoint WHERE status = 'valid'").fetchall()
    return frozenset(address for (address,) in valid), asked


def endless_page(host: str, number: int) -> tuple[list[RankedLink], list[Candidate]]:
    """Return the links and the candidates of the page of a number; start pages have the number 0."""
    if host == "cal.example":  # a month leads to its neighbours and to its days
        return [link(f"cal.example/m/{n}", 7) for n in (number + 1, 2 * number + 3, abs(number - 1))], []
    if host == "shop.example":  # each page makes new session ids
        return [link(f"shop.example/p?sid={3 * number + n}", 6) for n in (1, 2, 3)], []
    if host == "list.example" and not number:
        return [link(f"list.example/data/{n}", 5) for n in range(1, 400)], []
    if host == "list.example" and number % 97 == 0:
        return [], [candidate(f"http://maps{number}.test/wms?service=WMS")]
    return [], []


def test_a_crawl_with_a_calendar_and_session_ids_ends_with_the_same_catalogue_for_any_number_of_workers() -> None:
    alone, by_one = read_endless_web(1)
    crowd, by_eight = read_endless_web(8)
    assert len(alone) == 4 and crowd == alone
    for asked in (by_one, by_eight):
        assert asked["list.example"] == 400, "all data sets that a list names"
        assert max(asked["cal.example"], asked["shop.example"]) < 300, "50, and about as many of the lowest tier"


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
