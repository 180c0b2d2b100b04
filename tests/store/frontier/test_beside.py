"""Workers of PostgreSQL lease and settle at the same time: nothing is lost, counted twice or asked by two."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter

from geocrawl.errors import RefusedValue
from geocrawl.model import Candidate, Lease, RankedLink, Settled, State, Visit
from geocrawl.settings import Settings
from geocrawl.store.engine.postgres.connection import PostgresConnection
from geocrawl.store.frontier.frontier import AwaitedFrontier
from geocrawl.store.frontier.shared_statements import LOCK_HOSTS
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


def visit(lease: Lease, *links: RankedLink, candidates: tuple[tuple[Candidate, RankedLink | None], ...] = ()) -> Visit:
    """The visit of a page that names these links and candidates."""
    return Visit(
        lease=lease,
        state=State.VISITED,
        reason="ok",
        host=lease.host,
        at=1_000_000.0,
        links=links,
        candidates=candidates,
    )


def crawl(world: World, most: int = 1) -> list[tuple[str, int]]:
    """Visit all that can be leased, `most` hosts at once; return the addresses with the numbers of their leases."""
    done = list[tuple[str, int]]()
    while leases := world.frontier.lease_many(most):
        settled = world.frontier.settling.settle_many([visit(each, *named(each.entry.url.address)) for each in leases])
        done += [
            (lease.entry.url.address, lease.token)
            for lease, each in zip(leases, settled, strict=True)
            if isinstance(each, Settled) and not each.ignored
        ]
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


def test_workers_that_write_at_the_same_time_leave_a_sound_queue(postgres_url: str) -> None:
    worlds = [World(postgres_url, SETTINGS, owner=f"w{number}:1") for number in range(WORKERS)]
    worlds[0].seed(*(f"h{number}.example/" for number in range(HOSTS)))
    visits: list[list[tuple[str, int]]] = [[] for _ in worlds]

    def work(number: int) -> None:
        visits[number] = crawl(worlds[number], most=1 + number % 2)

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


def test_a_worker_leases_and_settles_while_another_one_settles(postgres_url: str) -> None:
    """Before, each waited until no other transaction wrote, whatever the hosts."""
    world = World(postgres_url, SETTINGS)
    world.seed("a.example/", "b.example/")
    other = PostgresConnection(server_of(postgres_url))
    other.begin(shared=True)
    other.execute(LOCK_HOSTS, (["a.example"],))
    world.database.connection.wait_for_lock(50)
    lease = world.lease()
    assert lease.host.name == "b.example", "a host that another one has locked is passed over"
    assert not world.settle(lease, link("b.example/next"), link("new.example/")).ignored
    assert world.lease().host.name in ("b.example", "new.example")
    other.close()


def test_what_changes_more_than_its_hosts_is_written_alone(postgres_url: str) -> None:
    """A better link to a visited page moves what that page's redirect leads to, on whatever host."""
    world = World(postgres_url, SETTINGS)
    world.seed("a.example/", "b.example/")
    world.settle(world.lease(), link("c.example/", tier=3))
    world.settle(world.lease(), link("d.example/", tier=2))
    world.settle(world.lease(), link("e.example/", tier=1, same_depth=True))  # c redirects to e
    lease = world.lease()
    assert lease.host.name == "e.example"
    world.settle(lease)
    lease = world.lease()
    assert lease.host.name == "d.example"
    world.settle(lease, link("c.example/", tier=7), candidates=[(candidate("f.example/wms?service=WMS"), None)])
    assert world.row("c.example/")[3] == 7 == world.row("e.example/")[3]
    check_invariants(world.database.connection)


def test_the_numbers_of_both_kinds_of_transaction_never_meet(postgres_url: str) -> None:
    world = World(postgres_url, SETTINGS)
    world.seed("a.example/")
    for number in range(6):
        found = [(candidate(f"s{number}.example/wms?service=WMS"), None)] if number % 2 else []
        world.settle(world.lease(pages=True), link(f"n{number}.example/"), candidates=found)
    rows = world.database.connection.execute("SELECT id FROM url ORDER BY first_seen, id").fetchall()
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1)), "and leave no gap with one worker"
    check_invariants(world.database.connection)


def test_visits_that_are_ready_together_are_settled_in_one_transaction(postgres_url: str) -> None:
    world = World(postgres_url, SETTINGS)
    world.seed(*(f"h{number}.example/" for number in range(3)))
    leases = world.frontier.lease_many(5)
    assert len(leases) == 3, "one a host"
    queue = AwaitedFrontier(world.frontier)
    connection = world.database.connection
    count = "SELECT count(DISTINCT xmin::text) FROM url WHERE state = 'visited'"

    async def settle(*visits: Visit) -> list[Settled]:
        return list(await asyncio.gather(*map(queue.settle, visits)))

    settled = asyncio.run(settle(*(visit(each, link(f"{each.host.name}/next")) for each in leases)))
    assert [each.new_links for each in settled] == [1, 1, 1]
    assert connection.execute(count).fetchone() == (1,)
    check_invariants(connection)


def test_a_visit_that_cannot_be_written_does_not_keep_others_from_being_settled(postgres_url: str) -> None:
    world = World(postgres_url, SETTINGS)
    world.seed("a.example/", "b.example/", "c.example/")
    good, bad, worse = world.frontier.lease_many(3)
    queue = AwaitedFrontier(world.frontier)
    found = ((candidate("s.example/wms?service=WMS"), None),)

    async def settle() -> list[Settled | BaseException]:
        ready = visit(good), visit(bad)._replace(size_bytes=2**70), visit(worse, candidates=found)._replace(title=1)  # type: ignore[arg-type]
        return list(await asyncio.gather(*map(queue.settle, ready), return_exceptions=True))

    written, refused, broken = asyncio.run(settle())
    assert isinstance(written, Settled) and not written.ignored
    assert isinstance(refused, RefusedValue) and isinstance(broken, TypeError)
    states = [world.row(f"{name}.example/")[0] for name in "abc"]
    assert states == [State.VISITED, State.WAITING, State.WAITING]
    check_invariants(world.database.connection)


def test_a_server_leases_for_all_who_wait_and_a_file_one_at_a_time(postgres_url: str) -> None:
    counts = []
    for place in ("sqlite://", postgres_url):
        world = World(place, SETTINGS)
        world.seed("a.example/", "b.example/", "c.example/")
        counts.append(len(asyncio.run(AwaitedFrontier(world.frontier).lease(lambda: 2))))
    assert counts == [1, 2]
