"""Find where a crawl cut the ways to the services that it did not find: the reason why a preset finds little.

A strategy that discards links ends before it has read what can be reached. For each service that it misses, the way to
the nearest page that names the service is walked from its seed. The last page on it that the crawl read is where the
link was discarded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from geocrawl.lab.contest.oracle import way_to
from geocrawl.lab.contest.run import CrawlResult
from geocrawl.lab.contest.study import Study
from geocrawl.priority.registry import presets
from geocrawl.wording import counted

EARLY = 0.9
"""A crawl that ends by itself before this share of the pages that it could read has discarded links on the way. (The
guard against traps keeps any crawl from some of them.)
"""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where the ways to services were cut."""

    missed: int
    """Services that can be reached and are named on no page that was read."""
    at: Counter[str]
    """Page that was read → services behind links of it that were discarded."""
    off_topic: int
    """How many of the missed services lie behind pages that the judge does not call relevant."""
    onward: Mapping[str, str]
    """Page that was read → the first page after it on a way to such a service."""


def ended_early(result: CrawlResult, study: Study) -> bool:
    """Return whether the crawl ended with an empty queue before it had read what it could: it discarded links."""
    pages = min(result.job.budget, len(study.reachable & study.parents.keys()))
    return result.stopped == "done" and result.score.pages < EARLY * pages


def cuts_of(result: CrawlResult, study: Study) -> Cuts:
    """Return where the crawl cut the ways to the services that it missed."""
    visited = set(result.visited)
    met = {service for page in visited for service in study.named.get(page, ())}
    nearest: dict[str, tuple[str, ...]] = {}
    for key in sorted(study.named):
        if key in study.parents:
            way = way_to(study.parents, key)
            for service in study.named[key] - met:
                if service not in nearest or len(way) < len(nearest[service]):
                    nearest[service] = way
    cuts = [cut for way in nearest.values() if (cut := _cut(way, visited, study.reachable))]
    at = Counter(page for page, _ in cuts)
    off = sum(number for page, number in at.items() if page not in study.judged)
    return Cuts(len(cuts), at, off, dict(reversed(cuts)))


def _cut(way: tuple[str, ...], visited: AbstractSet[str], pages: AbstractSet[str]) -> tuple[str, str] | None:
    """Return the last page of the way that was read and the first after it that was not; None when all were."""
    read = max((place for place, key in enumerate(way) if key in visited), default=len(way))
    after = next((key for key in way[read + 1 :] if key in pages), None)
    return None if after is None else (way[read], after)


def sentence(strategy: str, result: CrawlResult, study: Study) -> str:
    """Return where a crawl that ended early lost services, for people; '' for a crawl that read what it could."""
    if not ended_early(result, study):
        return ""
    cuts = cuts_of(result, study)
    said = f"{strategy} ended after {result.score.pages:,} of {len(study.reachable):,} pages, because it discards links"
    if not cuts.missed:
        return f"{said}; no service was lost by that."
    page, most = min(cuts.at.items(), key=lambda item: (-item[1], item[0]))
    rule = presets()[strategy].discards if strategy in presets() else ""
    by = f" by its paper's rule ({rule})" if rule else ""
    return (
        f"{said}{by}; {counted(cuts.missed, 'missed service')} behind {counted(len(cuts.at), 'page')} whose links it "
        f"discarded, {cuts.off_topic:,} of them behind pages that are off the topic by the judge, "
        f"most ({most:,}) behind {page}, whose link to {cuts.onward[page]} it did not follow."
    )
