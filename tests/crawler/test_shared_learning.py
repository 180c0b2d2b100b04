"""Two processes on one database: what one finds raises the ranks of what both wait for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from geocrawl.crawler import learning
from geocrawl.crawler.learning import Learning
from geocrawl.errors import PassingFault
from geocrawl.model import Feedback, Purpose, Rank
from geocrawl.priority.strategies.breadth_first import BreadthFirst
from geocrawl.store.frontier.frontier import SqlFrontier
from tests.support.lives import end
from tests.support.world import World, candidate, link, verdict


class Hosts(BreadthFirst):
    """Ranks a link by the finds on its host so far."""

    by_depth = False
    learns = True

    def __init__(self) -> None:
        super().__init__({})
        self.numbers: list[int] = []
        self.host_of: dict[int, str] = {}
        self.finds: dict[str, int] = {}
        self._found = False

    def learn(self, feedback: Feedback) -> None:
        self.numbers.append(feedback.number)
        for identity, number in feedback.links:
            self.host_of[number] = identity.split("/")[2]
        if feedback.purpose is Purpose.PROBE and feedback.valid:
            host = self.host_of[feedback.found_on or 0]
            self.finds[host] = self.finds.get(host, 0) + 1
            self._found = True

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        if not self._found:
            return None
        self._found = False
        return iter([[(number, Rank(5, self.finds.get(host, 0))) for number, host in self.host_of.items()]])

    def dump(self) -> bytes:
        return json.dumps([self.numbers, list(self.host_of.items()), self.finds]).encode()

    def load(self, state: bytes) -> None:
        self.numbers, hosts, self.finds = json.loads(state)
        self.host_of = dict(hosts)


class CorrectsRanks(Hosts):
    """Gives a link that another process judged the number of its feedback as its rank."""

    def __init__(self) -> None:
        super().__init__()
        self._ranks: dict[int, Rank] = {}

    def correct(self, feedback: Feedback) -> None:
        self._ranks.update((number, Rank(5, feedback.number)) for _, number in feedback.links)

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        ranks, self._ranks = self._ranks, {}
        return iter([[*ranks.items()]]) if ranks else None


class Process:
    """A process that crawls: its own connection, strategy and learning."""

    def __init__(self, url: str, owner: str, strategy: Hosts | None = None) -> None:
        self.world = World(url, learns=True, owner=owner)
        self.strategy = strategy or Hosts()
        frontier = self.world.frontier
        self.learning = Learning(self.strategy, frontier, self.world.store.runner, dump_every=1_000)

    def visit(self, *names: str, service: str = "") -> str:
        """Visit the next page, with links to pages of these names; with `service` also the probe of a service there."""
        lease = self.world.lease()
        named = [(candidate(service, page=lease.entry.url.address), None)] if service else []
        self._settle(self.world.settle(lease, *[link(name) for name in names], candidates=named).feedback)
        if service:
            probe = self.world.lease(pages=False)
            self._settle(self.world.settle(probe, verdict=verdict()).feedback)
        return lease.entry.url.address

    def keep_up(self) -> str:
        said = asyncio.run(self.learning.keep_up())
        asyncio.run(self.learning.write())
        return said

    def rank_of(self, name: str) -> float:
        row = self.world.database.connection.execute(
            "SELECT score FROM url WHERE address = ? AND purpose = 'page'", (f"http://{name}",)
        ).fetchone()
        return float(row[0])

    def _settle(self, feedback: Feedback | None) -> None:
        assert feedback is not None
        asyncio.run(self.learning.learn(feedback))
        asyncio.run(self.learning.write())


@pytest.fixture
def processes(database_url: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Process, Process]:
    """The learner and a follower, who store and load versions without a pause."""
    monkeypatch.setattr(learning, "_LEAST_S", 0.0)
    monkeypatch.setattr(learning, "_SHARE", 0)
    learner, follower = Process(database_url, "one:1"), Process(database_url, "two:1")
    learner.world.seed("a.example/")
    for process in (learner, follower):
        assert process.learning.restore() == []
    assert learner.learning.leads and not follower.learning.leads
    return learner, follower


def test_a_find_of_one_process_raises_the_links_of_the_other(processes: tuple[Process, Process]) -> None:
    learner, follower = processes
    learner.visit("b.example/1", "b.example/2", "c.example/1", "c.example/2")
    assert follower.visit(service="b.example/wms?service=wms").startswith("http://b.example/")
    assert follower.rank_of("b.example/2") == 0 and follower.strategy.finds == {}
    assert learner.keep_up() == ""
    assert learner.strategy.finds == {"b.example": 1}
    assert learner.rank_of("b.example/2") == 1 and learner.rank_of("c.example/1") == 0
    follower.keep_up()
    assert follower.strategy.finds == {"b.example": 1}, "it judges by the version of the learner"
    assert follower.visit() == "http://b.example/2"


def test_ranks_that_another_process_gave_are_corrected(database_url: str) -> None:
    learner, follower = (Process(database_url, owner, CorrectsRanks()) for owner in ("one:1", "two:1"))
    learner.world.seed("a.example/")
    for process in (learner, follower):
        process.learning.restore()
    learner.visit("b.example/1", "b.example/2")
    assert [learner.rank_of(name) for name in ("b.example/1", "b.example/2")] == [0, 0], "its own are right"
    follower.visit("b.example/2", "c.example/1")
    learner.keep_up()
    assert [learner.rank_of(name) for name in ("b.example/2", "c.example/1")] == [2, 2]


def test_versions_only_rise_and_one_that_wakes_up_late_loads_the_last(processes: tuple[Process, Process]) -> None:
    learner, follower = processes
    learner.visit(*[f"b.example/{number}" for number in range(6)])
    versions = [learner.world.frontier.version()]
    for _ in range(4):
        follower.visit(service="")
        learner.keep_up()
        versions.append(learner.world.frontier.version())
    assert versions == sorted(set(versions))
    assert follower.strategy.numbers == []
    follower.keep_up()
    assert follower.strategy.numbers == learner.strategy.numbers == [1, 2, 3, 4, 5]
    former = follower.strategy.dump()
    follower.keep_up()
    assert follower.strategy.dump() == former


def test_one_process_alone_stores_its_state_only_when_it_is_due(processes: tuple[Process, Process]) -> None:
    learner, _ = processes
    learner.visit("b.example/1", "b.example/2")
    learner.visit()
    learner.keep_up()
    assert learner.world.frontier.strategy_state() is None and len([*learner.world.frontier.feedback()]) == 2


def test_who_takes_over_has_learnt_every_visit_once(processes: tuple[Process, Process]) -> None:
    learner, follower = processes
    learner.visit(*[f"b.example/{number}" for number in range(6)])
    follower.visit(service="b.example/wms?service=wms")
    learner.keep_up()
    follower.keep_up()
    follower.visit(service="b.example/wfs?service=wms")  # learnt by nobody yet
    end(follower.world.database, "one:1")
    assert "has become the one that learns" in follower.keep_up()
    assert follower.strategy.numbers == [1, 2, 3, 4, 5] and follower.strategy.finds == {"b.example": 2}
    assert follower.rank_of("b.example/5") == 2
    learner.visit()  # it does not know yet
    learner.keep_up()
    assert not learner.learning.leads
    follower.keep_up()
    learner.keep_up()
    assert learner.strategy.numbers == follower.strategy.numbers == [1, 2, 3, 4, 5, 6]


def test_ranks_that_could_not_be_written_are_written_after_the_fault(
    processes: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, _ = processes
    learner.visit("b.example/1", "b.example/2")

    def fails(*_: object, **__: object) -> int:
        raise PassingFault("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(SqlFrontier, "rerank", fails)
        with pytest.raises(PassingFault):
            learner.visit(service="b.example/wms?service=wms")
    assert learner.rank_of("b.example/2") == 0
    assert learner.keep_up() == ""
    assert learner.rank_of("b.example/2") == 1
    assert learner.strategy.numbers == [1, 2, 3]


@pytest.fixture(params=["disk", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database: SQLite on disk, then PostgreSQL."""
    if request.param == "disk":
        return f"sqlite:///{tmp_path / 'crawl.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
