"""The topic page store: what is kept, and what goes when room is short."""

from __future__ import annotations

import zlib

from geocrawl.model import StoredPage
from geocrawl.settings import Settings
from geocrawl.store.frontier.page_store import kept_pages
from tests.support.world import World


def keep(world: World, score: float, body: bytes = b"x") -> None:
    """Visit the next page and keep it."""
    world.settle(world.lease(), stored=StoredPage("utf-8", zlib.compress(body), score))


def scores(world: World, least: float = 0.0) -> list[float]:
    return [page.score for page in kept_pages(world.database.connection, least)]


def test_a_page_is_read_back_as_it_was_answered(engine_url: str) -> None:
    world = World(engine_url)
    world.seed("a.example/")
    keep(world, 0.7, "地图 ".encode() * 1000)
    (page,) = kept_pages(world.database.connection)
    assert (page.address, page.score, page.encoding) == ("http://a.example/", 0.7, "utf-8")
    assert page.body == "地图 ".encode() * 1000
    assert scores(world, 0.8) == []


def test_the_lowest_scores_go_first_when_room_is_short(engine_url: str) -> None:
    size = len(zlib.compress(b"x"))
    world = World(engine_url, Settings(page_store_bytes=3 * size))
    world.seed(*[f"a.example/{n}" for n in range(6)])
    for score in (0.5, 0.2, 0.9, 0.1, 0.2, 0.6):
        keep(world, score)
    assert scores(world) == [0.9, 0.6, 0.5]
    taken = world.database.connection.execute("SELECT value FROM counter WHERE name = 'stored-bytes'").fetchone()
    assert taken == (3 * size,)


def test_a_page_visited_again_takes_its_own_place(engine_url: str) -> None:
    world = World(engine_url)
    world.seed("a.example/")
    keep(world, 0.5, b"first")
    world.seed("a.example/", again=True)
    keep(world, 0.4, b"second")
    assert [page.body for page in kept_pages(world.database.connection)] == [b"second"]


def test_a_page_larger_than_the_store_is_not_kept(engine_url: str) -> None:
    world = World(engine_url, Settings(page_store_bytes=4))
    world.seed("a.example/")
    keep(world, 0.9)
    assert scores(world) == []
