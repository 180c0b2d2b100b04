"""Hosts that a killed process held."""

from __future__ import annotations

from pathlib import Path

from geocrawl.settings import Settings, SiteSettings

from .world import World


def test_the_host_of_a_killed_process_rests_as_after_a_request(tmp_path: Path) -> None:
    """The request that was under way is answered at about the time of the kill: the next one keeps the delay."""
    settings = Settings(delay_s=2.0)
    killed = World(tmp_path / "c.db", settings)
    killed.seed("a.example/", "b.example/")
    connection = killed.database.connection
    connection.execute("UPDATE host SET crawl_delay_s = 7 WHERE name = 'b.example'")
    killed.lease()
    killed.lease()
    connection.execute("UPDATE host SET lease_owner = 'test:99999999'")
    world = World(tmp_path / "c.db", settings)
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == world.clock.now() + 2.0
    world.clock.time += 2.0
    assert world.lease().host.name == "a.example"
    world.clock.time += 5.0
    assert world.lease().host.name == "b.example"


def test_a_host_with_a_delay_of_its_own_rests_for_that(tmp_path: Path) -> None:
    settings = Settings(delay_s=2.0, sites={"a.example": SiteSettings(delay_s=30.0)})
    killed = World(tmp_path / "c.db", settings)
    killed.seed("a.example/")
    killed.lease()
    killed.database.connection.execute("UPDATE host SET lease_owner = 'test:99999999'")
    world = World(tmp_path / "c.db", settings)
    assert world.frontier.ready_at() == world.clock.now() + 30.0
