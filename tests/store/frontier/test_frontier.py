"""The frontier: order, states, depth, leases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.model import Purpose, Rank, State, Visit
from geocrawl.settings import Settings, SiteSettings
from geocrawl.store.frontier.frontier import SqlFrontier
from tests.support.lives import beat, end
from tests.support.world import World, candidate, link, url, verdict


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url)


def test_a_seed_is_leased_settled_and_not_visited_twice(world: World) -> None:
    assert world.seed("a.example/") == 1
    lease = world.lease()
    assert lease.entry.url == url("a.example/")
    assert world.frontier.lease() is None
    world.settle(lease)
    assert world.frontier.lease() is None
    assert world.row("a.example/")[0] == "visited"
    assert world.seed("a.example/") == 0
    assert world.seed("a.example/", again=True) == 1
    assert world.lease().entry.url == url("a.example/")


def test_the_higher_tier_then_score_then_first_seen_is_leased(world: World) -> None:
    world.seed("a.example/")
    pages = [link("a.example/1", 5), link("a.example/2", 7, 0.1), link("a.example/3", 7, 0.2), link("a.example/4", 5)]
    world.visit(*pages)
    assert [world.visit() for _ in range(4)] == [f"http://a.example/{n}" for n in (3, 2, 1, 4)]


def test_hosts_of_equal_rank_take_turns(world: World) -> None:
    world.seed("a.example/")
    world.visit(*[link(f"{host}.example/{n}") for host in "ab" for n in range(3)])
    assert [world.visit()[7] for _ in range(6)] == list("ababab")


def test_a_resting_host_is_passed_over_until_it_is_due(world: World) -> None:
    world.seed("a.example/", "b.example/")
    world.settle(world.lease(), link("a.example/high", 9), next_at=world.clock.now() + 100)
    assert world.visit() == "http://b.example/"
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == world.clock.now() + 100
    assert world.frontier.stats().hosts_resting == 1
    world.clock.time += 100
    assert world.visit() == "http://a.example/high"


def test_a_lower_depth_reaches_the_links_of_visited_pages(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db", Settings(max_depth=3))
    world.seed("a.example/0")
    world.visit(link("a.example/1"), link("b.example/late", 1))
    world.visit(link("a.example/2"))
    world.visit(link("a.example/3"))
    world.visit(link("a.example/4"))
    assert world.row("a.example/4") == ("too-deep", None, 4, 5)
    assert world.visit(link("a.example/2")) == "http://b.example/late"
    assert world.row("a.example/4") == ("too-deep", None, 4, 5)
    world.seed("c.example/")
    world.visit(link("a.example/2"))
    assert world.visit() == "http://a.example/4"
    assert [world.row(f"a.example/{n}")[2] for n in range(5)] == [0, 1, 1, 2, 3]


def test_scores_follow_the_depth_for_a_strategy_by_depth(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db", by_depth=True)
    world.seed("a.example/")
    world.visit(link("a.example/1", 0), link("a.example/2", 0))
    world.visit(link("a.example/3", 0), link("b.example/2", 0))
    world.visit(link("a.example/2/1", 0))
    world.seed("b.example/2")
    scores = dict(
        world.database.connection.execute("SELECT address, score FROM url WHERE state = 'waiting'").fetchall()
    )
    assert scores == {"http://a.example/3": -2, "http://b.example/2": 0, "http://a.example/2/1": -2}
    assert world.visit() == "http://b.example/2"


def test_an_outdated_settlement_writes_nothing(world: World) -> None:
    world.seed("a.example/")
    old = world.lease()
    world.clock.time += world.settings.lease_s + 1
    new = world.lease()
    assert new.token > old.token
    assert world.settle(old, link("a.example/x")).ignored
    assert not world.frontier.known(url("a.example/x"))
    assert not world.settle(new).ignored
    assert world.settle(new).ignored


def test_a_released_entry_is_leased_again(world: World) -> None:
    world.seed("a.example/")
    world.frontier.release(world.lease())
    assert world.visit() == "http://a.example/"


def test_a_failed_page_waits_for_its_retry_and_is_given_up_in_the_end(world: World) -> None:
    world.seed("a.example/")
    for attempt in range(world.settings.max_attempts):
        lease = world.lease()
        assert lease.entry.attempts == attempt
        world.settle(lease, state=State.FAILED, reason="dns", retry_after_s=50)
        assert world.frontier.lease() is None
        expected = world.clock.now() + 50 if attempt < 2 else None
        assert world.frontier.ready_at() == expected
        world.clock.time += 50
    assert world.row("a.example/")[:2] == ("failed", "dns")
    assert world.frontier.lease() is None


def test_probes_run_before_pages_and_alone_when_asked(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("a.example/1", 9), candidates=[(candidate("m.example/wms?service=WMS"), None)])
    assert world.frontier.stats().probes_waiting == 1
    lease = world.lease(pages=False)
    assert lease.entry.purpose is Purpose.PROBE
    assert lease.entry.candidate == candidate("m.example/wms?service=WMS")
    world.settle(lease, verdict=verdict("exception"))
    assert world.frontier.lease(pages=False) is None
    assert world.frontier.ready_at(pages=False) is None
    assert world.visit() == "http://a.example/1"
    assert world.catalog.counts()["invalid"] == 1


def test_a_weak_candidate_that_is_html_is_visited_as_a_page(world: World) -> None:
    world.seed("a.example/")
    weak = candidate("a.example/wms", weak=True)
    world.visit(candidates=[(weak, link("a.example/wms", 4))])
    assert world.row("a.example/wms") == ("refused", "candidate", 1, 4)
    world.settle(world.lease(), verdict=verdict("html"))
    assert world.row("a.example/wms") == ("waiting", None, 1, 4)
    assert world.visit(candidates=[(weak, link("a.example/wms?x=1", 4))]) == "http://a.example/wms"
    assert world.row("a.example/wms?x=1")[0] == "waiting"


def test_counts_agree_with_the_rows(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("a.example/1", 3), link("b.example/1", 4), link("x.example/", 3, refused="stop:social"))
    world.lease()
    stats = world.frontier.stats()
    assert stats.states[State.VISITED] == 1
    assert stats.states[State.WAITING] == 1
    assert stats.states[State.LEASED] == 1
    assert stats.states[State.REFUSED] == 1
    assert stats.waiting_by_tier == {3: 1}


def test_reranking_reorders_drops_and_brings_back(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("a.example/1", 3), link("a.example/2", 4))
    ids = {w.url.address[-1]: w.id for w in world.frontier.waiting()}
    assert world.frontier.rerank([(ids["1"], Rank(8)), (ids["2"], None)]) == 2
    assert world.row("a.example/2")[:2] == ("refused", "unranked")
    assert world.visit() == "http://a.example/1"
    assert world.frontier.lease() is None
    assert world.frontier.rerank((w.id, Rank(2)) for w in world.frontier.waiting()) == 1
    assert world.visit() == "http://a.example/2"


def test_a_link_to_a_page_whose_rank_fell_raises_it_again(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("a.example/1", 8), link("a.example/2", 7), link("a.example/3", 6))
    ids = {w.url.address[-1]: w.id for w in world.frontier.waiting()}
    world.frontier.rerank([(ids["1"], Rank(2)), (ids["3"], Rank(3))])
    assert world.visit(link("a.example/1", 5)) == "http://a.example/2"
    assert [world.visit(), world.visit()] == ["http://a.example/1", "http://a.example/3"]


@pytest.mark.parametrize("few", [0, 1_000])
def test_a_queue_ranked_again_is_served_by_its_last_ranks_in_one_step_or_many(
    world: World, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("geocrawl.store.frontier.rerank._FEW", few)
    monkeypatch.setattr("geocrawl.store.frontier.rerank._READY", 7)
    monkeypatch.setattr("geocrawl.store.frontier.rerank._WRITTEN", 2)
    monkeypatch.setattr("geocrawl.store.frontier.rerank._STEP", 3)
    world.seed("a.example/")
    world.visit(*(link(f"{host}.example/{n}", 5) for host in "abc" for n in range(6)))
    ids = {w.url.address: w.id for w in world.frontier.waiting()}
    wanted = sorted(ids, key=lambda address: address[::-1])
    rise = [(ids[address], Rank(8, 100.0 - place)) for place, address in enumerate(wanted)]
    fall = [(ids[address], Rank(1, 0.0)) for address in ids]
    assert world.frontier.rerank([*fall, *reversed(rise), (10**9, Rank(9))], through=None) >= len(ids)
    assert [world.visit() for _ in ids] == wanted
    assert world.frontier.lease() is None
    assert world.frontier.stats().waiting_by_tier == {}


def test_another_depth_limit_lets_in_and_sets_aside(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db", Settings(max_depth=1))
    world.seed("a.example/")
    world.visit(link("a.example/1"))
    world.visit(link("a.example/2"))
    assert world.row("a.example/2")[0] == "too-deep"
    world.database.close()
    world = World(tmp_path / "crawl.db", Settings(max_depth=2))
    assert world.row("a.example/2")[0] == "waiting"
    world.database.close()
    world = World(tmp_path / "crawl.db", Settings(max_depth=1))
    assert world.row("a.example/2")[0] == "too-deep"
    assert world.frontier.lease() is None


def test_retry_brings_back_what_failed_or_was_refused_for_a_reason(world: World) -> None:
    world.seed("a.example/", "b.example/")
    world.settle(world.lease(), state=State.FAILED, reason="dns")
    world.settle(world.lease(), link("c.example/", refused="scope"), state=State.REFUSED, reason="robots")
    assert world.frontier.retry(host="nowhere.example") == 0
    assert world.frontier.retry(host="a.example", reason="dns") == 1
    assert world.frontier.retry() == 0
    assert world.frontier.retry(reason="robots") == 1
    assert world.frontier.retry(reason="scope") == 1
    assert sorted(world.visit() for _ in range(3)) == [f"http://{host}.example/" for host in "abc"]


def test_seeds_and_known_pages_can_be_asked_for(world: World) -> None:
    world.seed("a.example/", "b.example/x")
    world.settle(world.lease(), link("a.example/1"), link("c.example/", same_depth=True))
    assert [seed.host for seed in world.frontier.seeds()] == ["a.example", "b.example", "c.example"]
    assert world.frontier.known(url("http://A.example/1#top"))
    assert not world.frontier.known(url("a.example/2"))
    assert world.frontier.was_answered(url("a.example/"))
    assert not world.frontier.was_answered(url("b.example/x"))


def test_an_endpoint_is_probed_again_only_when_asked_to(world: World) -> None:
    given = candidate("m.example/wms?service=WMS")
    assert world.frontier.add_candidates([given, given]) == 2
    world.settle(world.lease(), verdict=verdict("exception"))
    assert world.frontier.was_answered(url("m.example/wms?request=GetMap"))
    assert world.frontier.add_candidates([given]) == 0
    assert world.frontier.add_candidates([given], again=True) == 1
    assert world.lease().entry.candidate == given


def test_a_seed_is_let_in_though_a_page_named_it_as_refused(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("b.example/", refused="stop:social"), link("c.example/", refused="scope"))
    assert world.seed("b.example/", "c.example/") == 2
    assert sorted([world.visit(), world.visit()]) == ["http://b.example/", "http://c.example/"]


def test_another_strategy_finds_its_way_back_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db")
    world.seed("a.example/")
    world.visit(link("a.example/1", 3))
    lease = world.lease()
    world.database.close()
    world = World(tmp_path / "crawl.db")
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == lease.until
    world.clock.time = lease.until
    assert world.visit() == "http://a.example/1"


def test_a_page_that_was_counted_as_too_deep_is_probed_all_the_same(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db", Settings(max_depth=0))
    world.seed("a.example/")
    weak = candidate("m.example/wms", weak=True)
    world.visit(link("a.example/1"), candidates=[(weak, link("m.example/wms"))])
    assert world.row("a.example/1")[0] == "too-deep"
    lease = world.lease()
    assert lease.entry.purpose is Purpose.PROBE
    world.settle(lease, verdict=verdict("html"))
    assert world.row("m.example/wms")[0] == "too-deep"
    assert world.frontier.lease() is None


def test_what_a_killed_process_held_is_free_at_once(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db")
    world.seed("a.example/", "b.example/", "c.example/")
    end(world.database, "killed:1")
    beat(world.database, "alive:1", world.clock.now())
    for owner in ("killed:1", "alive:1", "unknown:1"):
        world.lease()
        world.database.connection.execute("UPDATE host SET lease_owner = ? WHERE lease_owner = 'test:1'", (owner,))
    SqlFrontier(world.database, world.settings, world.clock, catalog=world.catalog)
    assert world.visit() == "http://a.example/"
    assert world.frontier.lease() is None


def test_a_process_that_waits_for_leases_of_a_killed_one_is_free_of_them_within_seconds(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db")
    world.seed("a.example/", "a.example/2")
    world.lease()
    assert world.frontier.lease() is None
    world.database.connection.execute("UPDATE host SET lease_owner = 'killed:1'")
    end(world.database, "killed:1")
    world.clock.time += 5.0
    assert world.visit() == "http://a.example/"


def test_a_turn_that_was_not_settled_leaves_a_host_where_it_stood(world: World) -> None:
    world.seed("a.example/1", "b.example/1", "a.example/2", "b.example/2")
    world.frontier.release(world.lease())
    assert [world.visit() for _ in range(4)] == [f"http://{host}.example/{n}" for n in (1, 2) for host in "ab"]


def test_a_host_that_is_asked_slowly_is_held_for_all_requests_of_a_turn(tmp_path: Path) -> None:
    settings = Settings(lease_s=300.0, map_requests=8, sites={"a.example": SiteSettings(delay_s=60.0)})
    world = World(tmp_path / "crawl.db", settings)
    world.seed("a.example/", "b.example/")
    held_s = {lease.host.name: lease.until - world.clock.now() for lease in (world.lease(), world.lease())}
    assert held_s == {"a.example": 1200.0, "b.example": 300.0}


def test_how_often_a_host_was_asked_today_outlives_its_lease(world: World) -> None:
    world.seed("a.example/", "a.example/2")
    lease = world.lease()
    asked = replace(lease.host, day=20_000, asked=7)
    world.frontier.settle(Visit(lease, State.VISITED, "ok", asked, world.clock.now()))
    again = world.lease()
    assert (again.host.day, again.host.asked) == (20_000, 7)
    world.frontier.release(again, replace(asked, asked=8))
    assert world.lease().host.asked == 8


def test_a_retry_on_a_host_whose_back_off_has_ended_is_ready_at_once(world: World) -> None:
    world.seed("c.example/1", "a.example/0")
    failing, redirecting = world.lease(), world.lease()
    world.settle(failing, state=State.FAILED, reason="dns", retry_after_s=5.0)
    world.settle(redirecting, link("c.example/0", same_depth=True))
    world.settle(world.lease(), next_at=world.clock.now() + 30)
    world.clock.time += 40
    assert world.lease().entry.url.address == "http://c.example/1"
