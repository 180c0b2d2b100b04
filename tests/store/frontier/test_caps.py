"""Caps choose by the URL's hash: what is kept depends on what was seen, not on its order."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from geocrawl.settings import Settings, SiteSettings
from geocrawl.store.database.keys import is_over_cap, page_key
from tests.support.world import World, link


def crawl(database: str, addresses: list[str], settings: Settings) -> set[str]:
    """Add all addresses, then visit what is left; returns the visited ones."""
    world = World(database, settings)
    world.seed("start.example/")
    world.visit(*[link(address) for address in addresses])
    visited = set()
    while lease := world.frontier.lease():
        visited.add(lease.entry.url.address)
        world.settle(lease)
    return visited


def test_queries_over_the_cap_are_chosen_by_hash_whatever_their_order(engine_urls: Iterator[str]) -> None:
    addresses = [f"a.example/list?page={n}" for n in range(400)]
    settings = Settings(max_queries_per_path=100)
    kept = crawl(next(engine_urls), addresses, settings)
    assert 75 <= len(kept) <= 125
    random.Random(3).shuffle(addresses)
    assert crawl(next(engine_urls), addresses, settings) == kept


def test_pages_of_a_host_over_the_cap_are_chosen_by_hash_whatever_their_order(engine_urls: Iterator[str]) -> None:
    addresses = [f"a.example/page{n}.html" for n in range(400)]
    settings = Settings(max_pages_per_host=100)
    kept = crawl(next(engine_urls), addresses, settings)
    assert 75 <= len(kept) <= 125
    assert crawl(next(engine_urls), addresses[::-1], settings) == kept


def test_a_page_left_out_says_why(engine_urls: Iterator[str]) -> None:
    world = World(next(engine_urls), Settings(max_queries_per_path=1))
    world.seed("start.example/")
    world.visit(*[link(f"a.example/x?n={n}") for n in range(30)])
    while lease := world.frontier.lease():
        world.settle(lease)
    reasons = {world.row(f"a.example/x?n={n}")[:2] for n in range(30)}
    assert ("refused", "trap:queries") in reasons
    assert reasons <= {("refused", "trap:queries"), ("visited", "ok")}


def test_seeds_are_never_left_out(engine_urls: Iterator[str]) -> None:
    world = World(next(engine_urls), Settings(max_queries_per_path=1, max_pages_per_host=1))
    assert world.seed(*[f"a.example/x?n={n}" for n in range(30)]) == 30
    for _ in range(30):
        world.visit()


@given(st.sets(st.text(), min_size=0, max_size=50), st.integers(1, 10))
def test_no_key_is_over_the_cap_of_a_small_group_and_the_bound_only_falls(texts: set[str], cap: int) -> None:
    for text in texts:
        key = page_key(text)
        left_out = [is_over_cap(key, seen, cap) for seen in range(1, 60)]
        assert not any(left_out[:cap])
        assert left_out == sorted(left_out)


def test_a_host_may_have_a_cap_of_its_own(engine_urls: Iterator[str]) -> None:
    addresses = [f"{host}.example/page{n}.html" for host in "ab" for n in range(200)]
    settings = Settings(max_pages_per_host=100, sites={"b.example": SiteSettings(max_pages=20)})
    kept = [address.split("/")[2] for address in crawl(next(engine_urls), addresses, settings)]
    assert 75 <= kept.count("a.example") <= 125 and 5 <= kept.count("b.example") <= 35
