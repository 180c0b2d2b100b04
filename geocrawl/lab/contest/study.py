"""Study a recorded web by its own files: which pages are relevant, which can be reached, what an oracle needs.

A page is relevant when it names a valid service or is one link before such a page. A page can be reached when links
that robots.txt allows lead to it from a seed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from geocrawl.errors import UsageError
from geocrawl.fetch.robots import RobotsRules, read_text
from geocrawl.lab.contest.judge import PageJudge
from geocrawl.lab.contest.oracle import oracle, shortest_ways
from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.documents import documents, named_at, targets
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.settings import Settings


@dataclass(frozen=True, slots=True)
class Study:
    """The truth about a web, against which crawls are measured. Pages by their keys (`addresses.key_of`)."""

    world: str
    pages: int
    relevant: frozenset[str]
    reachable: frozenset[str]
    """All pages that can be reached, relevant or not."""
    judged: frozenset[str]
    """Pages that the fixed judge calls relevant."""
    oracle: tuple[int, ...]
    """Pages that the oracle has downloaded at each find."""
    sha256: str
    """SHA-256 of the file of recorded pages."""
    has_truth: bool = True
    """False: only the judge decides which pages are relevant."""
    parents: Mapping[str, str | None] = field(default_factory=dict)
    """Answer → the answer before it on a shortest way from a seed that a crawl may go; None for a seed."""
    named: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    """Answer → ids of the services of the topic that it names."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A web's answers and the links between them."""

    links: Mapping[str, Sequence[str]]
    """Key → keys that it links to, names, or redirects to; only recorded ones."""
    is_page: Mapping[str, bool]
    """Key → whether it counts as a page (else a redirect, a script, a sitemap …)."""
    seeds: Sequence[str]
    barred: frozenset[str]
    """Keys that robots.txt forbids."""


def seeds_of(own: Sequence[str], recorded: Iterable[str], chosen: Sequence[str], world: str) -> Sequence[str]:
    """Return the `chosen` seeds that a web contains, the web's `own` when none are chosen.

    `recorded`: keys of its answers. Raises UsageError when it contains none of those chosen.
    """
    if not chosen:
        return own
    keys = {key.rpartition("://")[2] for key in recorded}
    found = [seed for seed in chosen if key_of(seed) in keys]
    if not found:
        raise UsageError(f"none of the {len(chosen):,} seeds is recorded in {world}")
    return found


def study(
    world: World,
    judge: PageJudge,
    *,
    max_depth: int | None = None,
    chosen_seeds: Sequence[str] = (),
    kind: str = "",
) -> Study:
    """Return the truth about a world.

    `max_depth`: most links from a seed to the oracle's pages; None: as in crawls. `chosen_seeds`: see `seeds_of`.
    `kind`: the kind of service that makes a page relevant; '' for any.
    """
    links: dict[str, Sequence[str]] = {}
    judged = set()
    for key, document, stored in documents(world):
        links[key] = tuple(dict.fromkeys(targets(world, key, document, stored)))
        if _is_page(world, key) and judge.is_relevant(document.title, document.text):
            judged.add(key)
    seeds = seeds_of(world.seeds, world.warc.records, chosen_seeds, world.name)
    graph = Graph(
        links=links,
        is_page={key: _is_page(world, key) for key in world.warc.records},
        seeds=[key for key in map(key_of, seeds) if key in world.warc.records],
        barred=_barred(world),
    )
    depth = Settings().max_depth if max_depth is None else max_depth
    named = named_at(world)
    return Study(
        world=world.name,
        pages=world.pages,
        relevant=frozenset(_relevant(world, graph, kind)),
        reachable=frozenset(_reachable(graph)),
        judged=frozenset(judged),
        oracle=oracle(graph.links, graph.is_page, graph.seeds, graph.barred, named, max_depth=depth),
        sha256=world.sha256,
        parents=shortest_ways(graph.links, graph.is_page, graph.seeds, graph.barred, depth),
        named=named,
    )


def _is_page(world: World, key: str) -> bool:
    record = world.warc.records[key]
    return record.kind == "page" and not 300 <= record.status < 400


def _barred(world: World) -> frozenset[str]:
    """Return the keys that robots.txt of the host forbids to geocrawl."""
    rules: dict[str, RobotsRules] = {}
    for key, record in world.warc.records.items():
        host, slash, path = key.partition("/")
        stored = world.stored(key) if slash + path == "/robots.txt" and record.status == 200 else None
        if stored is not None:
            rules[host] = RobotsRules(read_text(stored.body), "geocrawl")
    hosts = {key: key.partition("/")[0] for key in world.warc.records}
    return frozenset(key for key, host in hosts.items() if host in rules and not rules[host].allows(f"http://{key}"))


def _relevant(world: World, graph: Graph, kind: str) -> Iterator[str]:
    services = [service for service in world.services if service.valid and kind in ("", service.kind)]
    naming = {key_of(page) for service in services for page, _ in service.exposures}
    for key, page in graph.is_page.items():
        if page and (key in naming or any(target in naming for target in graph.links.get(key, ()))):
            yield key


def _reachable(graph: Graph) -> Iterator[str]:
    seen = set(graph.seeds) - graph.barred
    waiting = deque(sorted(seen))
    while waiting:
        key = waiting.popleft()
        if graph.is_page[key]:
            yield key
        for target in graph.links.get(key, ()):
            if target not in seen and target not in graph.barred:
                seen.add(target)
                waiting.append(target)
