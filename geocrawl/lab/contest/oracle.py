"""Compute the oracle: how few pages a crawl needs that knows which pages name services, and the paths to those pages.

Shortest paths from the seeds form a tree. In each step the oracle follows the path with most new services per page that
is not downloaded yet. This greedy choice on one of many trees is a reference value, not a proven bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet


def oracle(
    links: Mapping[str, Sequence[str]],
    is_page: Mapping[str, bool],
    seeds: Sequence[str],
    barred: AbstractSet[str],
    named_at: Mapping[str, AbstractSet[str]],
    *,
    max_depth: int,
) -> tuple[int, ...]:
    """Return the pages downloaded at each find, ascending.

    `named_at`: answer → ids of services named there. Redirects, scripts and sitemaps cost nothing; a page is at most
    `max_depth` pages behind a seed.
    """
    parents = shortest_ways(links, is_page, seeds, barred, max_depth)
    ways = {key: way_to(parents, key) for key in named_at if key in parents}
    fetched: set[str] = set()
    found: set[str] = set()
    pages, pages_at_finds = 0, list[int]()
    while ways:
        best, rate = "", (-1.0, 0)
        for key, way in list(ways.items()):
            gain = len(named_at[key] - found)
            if not gain:
                del ways[key]
                continue
            cost = sum(is_page[step] for step in way if step not in fetched)
            if (this := (gain / (cost + 1e-9), -cost)) > rate:
                best, rate = key, this
        for step in ways.pop(best, ()):
            if step in fetched:
                continue
            fetched.add(step)
            pages += is_page[step]
            new = named_at.get(step, frozenset()) - found
            found |= new
            pages_at_finds += [max(pages, 1)] * len(new)
    return tuple(pages_at_finds)


def shortest_ways(
    links: Mapping[str, Sequence[str]],
    is_page: Mapping[str, bool],
    seeds: Sequence[str],
    barred: AbstractSet[str],
    max_depth: int,
) -> dict[str, str | None]:
    """Return answer → its predecessor on a shortest path from a seed; None for a seed."""
    parents: dict[str, str | None] = {}
    waiting: deque[tuple[int, str, str | None]] = deque((0, seed, None) for seed in seeds if seed not in barred)
    while waiting:
        depth, key, parent = waiting.popleft()
        if key in parents or depth > max_depth:
            continue
        parents[key] = parent
        for target in links.get(key, ()):
            if target in parents or target in barred:
                continue
            if is_page[target]:
                waiting.append((depth + 1, target, key))
            else:
                waiting.appendleft((depth, target, key))
    return parents


def way_to(parents: Mapping[str, str | None], key: str) -> tuple[str, ...]:
    """Return the answers on the way to `key`, the seed first."""
    way: list[str] = []
    step: str | None = key
    while step is not None:
        way.append(step)
        step = parents[step]
    return tuple(reversed(way))
