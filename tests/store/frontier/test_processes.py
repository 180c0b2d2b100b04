"""Processes that share a database of PostgreSQL: nothing is lost, counted twice or asked by two."""

from __future__ import annotations

import random
import threading
from collections import Counter

from geocrawl.model import RankedLink
from geocrawl.settings import Settings
from geocrawl.store.database.postgres.connection import PostgresConnection
from geocrawl.urls.database import server_of
from tests.support.invariants import check_invariants
from tests.support.world import World, candidate, link

HOSTS, PAGES, WORKERS = 12, 25, 4
SETTINGS = Settings(delay_s=0, max_fruitless_per_pattern=0, max_pages_per_host=20, patience_s=0)


def named(address: str) -> list[RankedLink]:
    """The links of a page: the same at every visit, to known and unknown hosts, of several ranks."""
    chooser = random.Random(address)
    pages = [(chooser.randrange(HOSTS), chooser.randrange(PAGES)) for _ in range(8)]
    return [link(f"h{host}.example/{page}", tier=chooser.randrange(3, 6)) for host, page in pages]


def crawl(world: World) -> list[tuple[str, int]]:
    """Visit all that can be leased; return the addresses with the numbers of their leases."""
    done = list[tuple[str, int]]()
    while lease := world.frontier.lease():
        address = lease.entry.url.address
        if not world.settle(lease, *named(address)).ignored:
            done.append((address, lease.token))
    return done


def test_one_worker_visits_in_the_order_of_sqlite(postgres_url: str) -> None:
    orders = []
    for place in ("sqlite://", postgres_url):
        world = World(place, SETTINGS)
        world.seed("h0.example/", "h1.example/")
        visits = crawl(world)
        rows = world.database.connection.execute("SELECT id, address, state, tier, score, depth FROM url ORDER BY id")
        hosts = world.database.connection.execute("SELECT id, name, pages, turn FROM host ORDER BY id")
        orders.append((visits, rows.fetchall(), hosts.fetchall(), world.frontier.stats()))
        check_invariants(world.database.connection)
    assert orders[0] == orders[1]
    assert len(orders[0][0]) > 100


def test_workers_that_crawl_at_the_same_time_leave_a_sound_queue(postgres_url: str) -> None:
    worlds = [World(postgres_url, SETTINGS, owner=f"w{number}:1") for number in range(WORKERS)]
    worlds[0].seed(*(f"h{number}.example/" for number in range(HOSTS)))
    visits: list[list[tuple[str, int]]] = [[] for _ in worlds]

    def work(number: int) -> None:
        visits[number] = crawl(worlds[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    visits[0] += crawl(worlds[0])  # what a worker that ended last had found
    connection = worlds[0].database.connection
    check_invariants(connection)
    visited = [row[0] for row in connection.execute("SELECT address FROM url WHERE state = 'visited'")]
    addresses = [address for each in visits for address, _ in each]
    assert sorted(addresses) == sorted(visited) and len(visited) > 100
    tokens = Counter((address.split("/")[2], token) for each in visits for address, token in each)
    assert max(tokens.values()) == 1, "two visits had the same lease of a host"
    assert connection.execute("SELECT count(*) FROM host WHERE lease_until > 0").fetchone() == (0,)


def test_a_worker_leases_while_another_one_leases(postgres_url: str) -> None:
    world = World(postgres_url, SETTINGS)
    world.seed("a.example/", "b.example/")
    other = PostgresConnection(server_of(postgres_url))
    other.begin(shared=True)
    other.execute("SELECT id FROM host WHERE name = ? FOR UPDATE", ("a.example",))
    world.database.connection.wait_for_lock(50)
    lease = world.lease()
    assert lease.host.name == "b.example", "a host that another one has locked is passed over"
    other.close()


def test_urls_of_pages_and_probes_are_numbered_without_a_gap(postgres_url: str) -> None:
    world = World(postgres_url, SETTINGS)
    world.seed("a.example/")
    for number in range(6):
        found = [(candidate(f"s{number}.example/wms?service=WMS"), None)] if number % 2 else []
        world.settle(world.lease(pages=True), link(f"n{number}.example/"), candidates=found)
    rows = world.database.connection.execute("SELECT id FROM url ORDER BY first_seen, id").fetchall()
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    check_invariants(world.database.connection)
