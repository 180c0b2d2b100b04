"""The frontier against a model that says the same in the plainest way: whatever happens, both agree."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from geocrawl.model import Lease, State
from geocrawl.settings import Settings
from tests.support.invariants import check_invariants
from tests.support.world import SEED_RANK, World, link

MAX_DEPTH = 2
ADDRESSES = [f"http://{host}.example/{name}" for host in "abc" for name in range(4)]
addresses = st.sampled_from(ADDRESSES)
ranks = st.tuples(st.integers(1, 3), st.sampled_from([0.0, 0.5]))
Rank = tuple[int, float]


@dataclass
class ModelPage:
    number: int
    depth: int
    rank: Rank
    state: str
    retry_at: float | None = None
    attempts: int = 0
    links: list[tuple[str, bool]] = field(default_factory=list)


@dataclass
class ModelHost:
    number: int
    turn: int
    next_at: float = 0.0
    lease: str | None = None


class Model:
    """Pages and hosts in dictionaries; every question answered by looking at all of them."""

    def __init__(self) -> None:
        self.pages: dict[str, ModelPage] = {}
        self.hosts: dict[str, ModelHost] = {}
        self.turn = 0
        self.moved: list[ModelPage] = []

    def add(self, address: str, depth: int, rank: Rank) -> None:
        host = address[7]
        self.hosts.setdefault(host, ModelHost(len(self.hosts), self.turn))
        page = self.pages.get(address)
        if page is None:
            state = "waiting" if depth <= MAX_DEPTH else "too-deep"
            self.pages[address] = ModelPage(len(self.pages), depth, rank, state)
        elif depth < page.depth or rank > page.rank:
            if depth < page.depth:
                self.moved.append(page)
            page.depth, page.rank = min(depth, page.depth), max(rank, page.rank)
            if page.state == "too-deep" and page.depth <= MAX_DEPTH:
                page.state = "waiting"

    def follow(self) -> None:
        """Let all that moved pages lead to come nearer, too: links count from the settlement of their page's visit."""
        while self.moved:
            page = self.moved.pop()
            for target, same in page.links:
                self.add(target, page.depth + (not same), (0, 0.0))

    def wake(self, now: float) -> None:
        for page in self.pages.values():
            if page.state == "failed" and page.retry_at is not None and page.retry_at <= now:
                page.state, page.retry_at = "waiting", None

    def lease(self, now: float) -> str | None:
        self.follow()
        self.wake(now)
        best: list[tuple[tuple[float, ...], str]] = []
        for name, host in self.hosts.items():
            queue = [(a, p) for a, p in self.pages.items() if a[7] == name and p.state == "waiting"]
            if not queue or host.lease or host.next_at > now:
                continue
            address, page = min(queue, key=lambda each: (-each[1].rank[0], -each[1].rank[1], each[1].number))
            order = (-page.rank[0], -page.rank[1], host.turn, host.next_at, host.number)
            best.append((order, address))
        if not best:
            return None
        address = min(best)[1]
        self.hosts[address[7]].lease = address
        return address

    def take_turn(self, address: str) -> None:
        self.turn += 1
        self.hosts[address[7]].turn = self.turn

    def free(self, address: str, next_at: float) -> None:
        host = self.hosts[address[7]]
        host.lease, host.next_at = None, next_at


class FrontierMachine(RuleBasedStateMachine):
    """Random lives of a crawl on a database on disk."""

    in_memory = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        database = "sqlite://" if self.in_memory else Path(self.folder.name) / "crawl.db"
        self.world = World(database, Settings(economy=0.0, max_depth=MAX_DEPTH, max_attempts=2, lease_s=1e9))
        self.model = Model()
        self.leases: list[Lease] = []

    def teardown(self) -> None:
        self.world.database.close()
        self.folder.cleanup()

    @rule(address=addresses)
    def seed(self, address: str) -> None:
        self.world.seed(address)
        self.model.add(address, 0, (SEED_RANK.tier, SEED_RANK.score))
        page = self.model.pages[address]
        if page.state == "failed":
            page.state, page.retry_at, page.attempts = "waiting", None, 0

    @rule()
    def lease(self) -> None:
        lease = self.world.frontier.lease()
        assert (lease.entry.url.address if lease else None) == self.model.lease(self.world.clock.now())
        if lease:
            self.leases.append(lease)

    @precondition(lambda self: self.leases)
    @rule(
        links=st.lists(st.tuples(addresses, ranks), max_size=5, unique_by=lambda each: each[0]),
        rest=st.sampled_from([0, 1, 30]),
    )
    def visit(self, links: Iterable[tuple[str, Rank]], rest: int) -> None:
        lease = self.leases.pop(0)
        source = lease.entry.url.address
        found = [(address, rank) for address, rank in links if address != source]
        next_at = self.world.clock.now() + rest
        self.world.settle(lease, *[link(a, *rank) for a, rank in found], next_at=next_at)
        page = self.model.pages[source]
        self.model.take_turn(source)
        page.state = "visited"
        page.links = [(address, False) for address, _ in found]
        for address, rank in found:
            self.model.add(address, page.depth + 1, rank)
        self.model.free(source, next_at)

    @precondition(lambda self: self.leases)
    @rule(address=addresses)
    def redirect(self, address: str) -> None:
        lease = self.leases.pop()
        source = lease.entry.url.address
        page = self.model.pages[source]
        self.model.take_turn(source)
        self.world.settle(lease, link(address, *lease.entry.rank, same_depth=True))
        page.state = "visited"
        page.links = [(address, True)]
        self.model.add(address, page.depth, page.rank)
        self.model.free(source, 0.0)

    @precondition(lambda self: self.leases)
    @rule(wait=st.sampled_from([None, 5.0, 50.0]))
    def fail(self, wait: float | None) -> None:
        lease = self.leases.pop(0)
        self.world.settle(lease, state=State.FAILED, reason="dns", retry_after_s=wait)
        page = self.model.pages[lease.entry.url.address]
        self.model.take_turn(lease.entry.url.address)
        page.attempts += 1
        page.state = "failed"
        page.retry_at = self.world.clock.now() + wait if wait and page.attempts < 2 else None
        self.model.free(lease.entry.url.address, 0.0)

    @precondition(lambda self: self.leases)
    @rule()
    def release(self) -> None:
        lease = self.leases.pop()
        self.world.frontier.release(lease)
        host = self.model.hosts[lease.host.name[0]]
        host.lease, host.turn = None, -1  # what is given back is the first of its equals

    @rule(seconds=st.sampled_from([1, 10, 40]))
    def wait(self, seconds: int) -> None:
        self.world.clock.time += seconds

    @invariant()
    def rows_agree(self) -> None:
        rows = self.world.database.connection.execute("SELECT address, state, depth, tier, score FROM url").fetchall()
        assert {row[0]: row[1:] for row in rows} == {
            address: (page.state, page.depth, *page.rank) for address, page in self.model.pages.items()
        }
        check_invariants(self.world.database.connection)


class FrontierInMemory(FrontierMachine):
    """Random lives of a crawl on a database in memory."""

    in_memory = True


for machine, examples in ((FrontierMachine, 60), (FrontierInMemory, 20)):
    machine.TestCase.settings = settings(
        max_examples=examples, stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow]
    )
TestFrontierAgainstTheModel = FrontierMachine.TestCase
TestFrontierInMemoryAgainstTheModel = FrontierInMemory.TestCase
