"""Leases of killed processes."""

from __future__ import annotations

from pathlib import Path

from geocrawl.settings import Settings, SiteSettings
from tests.support.lives import end
from tests.support.world import World, candidate


def test_the_host_of_a_killed_process_waits_until_its_last_request_is_surely_answered(tmp_path: Path) -> None:
    """A server need not see that nobody waits for its answer any more: the next request keeps the delay after it."""
    settings = Settings(delay_s=2.0, total_timeout_s=5.0)
    killed = World(tmp_path / "c.db", settings)
    killed.seed("a.example/", "b.example/")
    connection = killed.database.connection
    connection.execute("UPDATE host SET crawl_delay_s = 7 WHERE name = 'b.example'")
    killed.lease()
    killed.lease()
    connection.execute("UPDATE host SET lease_owner = 'test:99999999'")
    end(killed.database, "test:99999999")
    world = World(tmp_path / "c.db", settings)
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == world.clock.now() + 5.0 + 2.0
    world.clock.time += 7.0
    assert world.lease().host.name == "a.example"
    world.clock.time += 5.0
    assert world.lease().host.name == "b.example"


def test_a_host_with_a_delay_of_its_own_waits_for_that(tmp_path: Path) -> None:
    settings = Settings(delay_s=2.0, sites={"a.example": SiteSettings(delay_s=30.0)})
    killed = World(tmp_path / "c.db", settings)
    killed.seed("a.example/")
    killed.lease()
    killed.database.connection.execute("UPDATE host SET lease_owner = 'test:99999999'")
    end(killed.database, "test:99999999")
    world = World(tmp_path / "c.db", settings)
    assert world.frontier.ready_at() == world.clock.now() + 10.0 + 30.0


def test_without_a_delay_the_host_is_leased_at_once(tmp_path: Path) -> None:
    settings = Settings(delay_s=0.0)
    killed = World(tmp_path / "c.db", settings)
    killed.seed("a.example/")
    killed.lease()
    killed.database.connection.execute("UPDATE host SET lease_owner = 'test:99999999'")
    end(killed.database, "test:99999999")
    assert World(tmp_path / "c.db", settings).lease().host.name == "a.example"


def test_a_probe_that_was_put_behind_comes_after_those_of_its_host_once(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    world.seed("seed.example/")
    named = [candidate(f"http://a.example/{name}?service=WMS&request=GetCapabilities") for name in ("late", "next")]
    world.settle(world.lease(), candidates=[(each, None) for each in named])
    late = world.lease()
    assert late.others_wait and not late.entry.is_behind
    world.frontier.put_behind(late)
    world.frontier.release(late)
    following = world.lease()
    assert "next" in following.entry.url.address
    world.settle(following)
    again = world.lease()
    assert again.entry.id == late.entry.id and again.entry.is_behind and not again.others_wait
