"""Run the papers' experiments besides the contest: other seeds, another topic, other signs, classifiers of links.

The contest itself runs every strategy from a web's own seeds, without limits. Shen et al. (2015) let both of their
crawlers follow five links with five threads and recognise services by queries alone, Min and Huang (2015) begin at ten
seeds and read 3,000 pages, Liu and Li (2017) crawl for two topics, Han et al. (2010) begin off the topic, too, and
train classifiers.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from geocrawl.errors import GeocrawlError, UsageError
from geocrawl.lab.contest.claims import Evidence
from geocrawl.lab.contest.contest import ContestResults, Plan, WorldResults, in_own_process, run_contest, under_setup
from geocrawl.lab.contest.link_classes import LinkClasses, classify_links
from geocrawl.lab.contest.papers import AS_SHEN, OFF_TOPIC_SEEDS, SECOND_TOPIC, TEN_SEEDS
from geocrawl.lab.contest.rates import pages_at
from geocrawl.lab.contest.study import Study
from geocrawl.lab.recorded_worlds.world import World

SEEDS, SEEDS_PAGES = 10, 3_000
"""Seeds and pages of an experiment with ten seeds (Min and Huang 2015)."""
TOPIC_LAST = 5_000
"""Pages after which recalls of two topics are compared (Liu and Li 2017)."""
TOPIC, TOPIC_KIND = "geoservices/arcgis", "arcgis"
"""The second topic, and the kind of service that makes a page relevant to it."""
TOPIC_PAGES = 20
"""A web with fewer pages that are relevant to the second topic is left out."""
Tell = Callable[[str], None]


def run_experiments(plan: Plan, results: ContestResults, tell: Tell) -> Evidence:
    """Run the experiments on the worlds of a contest and return all that claims are held against.

    `tell` is called with a line for each crawl. A world that cannot be used in an experiment is left out of it.
    """
    worlds = {world.study.world: world for world in results.worlds if world.study.has_truth}
    paths = {World(path).name: path for path in plan.worlds if path.is_dir()}
    known = {name: (paths[name], world) for name, world in worlds.items() if name in paths}
    experiments, not_run = {"": results}, {}
    for name, make in (
        (TEN_SEEDS, partial(_from_ten_seeds, on_topic=True)),
        (OFF_TOPIC_SEEDS, partial(_from_ten_seeds, on_topic=False)),
        (SECOND_TOPIC, _second_topic),
        (AS_SHEN, _as_shen),
    ):
        found = [made for path, world in known.values() for made in [make(plan, path, world)] if made is not None]
        tell(f"experiment: {name}, on {len(found):,} webs")
        try:
            experiments[name] = _joined([run_contest(each, tell) for each in found])
        except UsageError as error:
            not_run[name] = str(error)
        if not found:
            not_run[name] = "no web of the contest has enough pages on the topic"
    return Evidence(experiments, not_run, _classified(known, tell))


def _joined(parts: Collection[ContestResults]) -> ContestResults:
    return ContestResults(
        tuple(world for part in parts for world in part.worlds), tuple(line for part in parts for line in part.skipped)
    )


def _from_ten_seeds(plan: Plan, path: Path, world: WorldResults, *, on_topic: bool) -> Plan | None:
    """Return the plan of crawls from ten pages on the topic, or off it; None when the web has too few."""
    study = world.study
    seeds = chosen_seeds(study, study.relevant if on_topic else study.reachable - study.relevant - study.judged)
    names = _ADAPTIVE if on_topic else ("bayes:paper",)
    if len(seeds) < SEEDS:
        return None
    budget = _bounded(plan, pages_at(SEEDS_PAGES, study.pages))
    return replace(plan, worlds=[path], strategies=names, budget=budget, seeds=[f"http://{key}" for key in seeds])


def _as_shen(plan: Plan, path: Path, world: WorldResults) -> Plan:
    """Return the plan of crawls with which Shen et al. (2015) compare theirs: both have the same limits and signs."""
    return replace(under_setup(plan, "gws:paper"), worlds=[path], strategies=("gws:paper", "bfs"))


_ADAPTIVE = ("best-first-page:gain", "best-first-page:chi2", "adaptive:paper", "bfs")
_HITS = ("hits:paper", "best-n-first:paper", "best-first:paper")


def chosen_seeds(study: Study, pages: Collection[str]) -> list[str]:
    """Return ten of the `pages` that links lead to, by a hash of their addresses, from as many sites as possible."""
    ordered = sorted(study.reachable & set(pages), key=lambda key: hashlib.sha256(key.encode()).digest())
    of_host = Counter[str]()
    ranked = []
    for place, key in enumerate(ordered):
        host = key.partition("/")[0]
        ranked.append((of_host[host], place, key))
        of_host[host] += 1
    return [key for _, _, key in sorted(ranked)[:SEEDS]]


def _second_topic(plan: Plan, path: Path, world: WorldResults) -> Plan | None:
    """Return the plan of crawls for the second topic; None when the web has too few pages for it.

    The crawls end where their recalls are compared.
    """
    own = World(path)
    services = [service for service in own.services if service.valid and service.kind == TOPIC_KIND]
    if len({page for service in services for page, _ in service.exposures}) < TOPIC_PAGES:
        return None
    budget = _bounded(plan, pages_at(TOPIC_LAST, world.study.pages))
    return replace(plan, worlds=[path], strategies=_HITS, budget=budget, topic=TOPIC, kind=TOPIC_KIND)


def _bounded(plan: Plan, budget: int) -> int:
    return min(budget, plan.budget or budget)


def _classified(known: Mapping[str, tuple[Path, WorldResults]], tell: Tell) -> dict[str, LinkClasses]:
    """Return world → its classifiers of links, without webs that have too few links."""
    found = {}
    for name, (path, world) in known.items():
        try:
            found[name] = in_own_process(partial(classify_links, relevant=world.study.relevant), path)
            tell(f"{name}: classifiers of {found[name].positive + found[name].negative:,} links")
        except GeocrawlError as error:
            tell(f"no classifiers of links: {error}")
    return found
