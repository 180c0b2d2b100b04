"""Measure what a crawl found and when, from the access log and the catalogue alone.

found      valid services whose endpoint is in the catalogue as valid and of the right kind, and whose
           GetCapabilities was answered in the log; the first such answer is the moment that counts
recall     found of the reachable ones / reachable ones
precision  found / pages downloaded: what the papers report
area       mean of the recall over pages 1 … budget; a crawl that ended earlier keeps its last recall
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from geocrawl.lab.recorded_worlds.addresses import key_of, read_query
from geocrawl.lab.recorded_worlds.replay import Request
from geocrawl.lab.recorded_worlds.world import TOPIC_KIND, TrueService, World
from geocrawl.model.kinds import facts_of
from geocrawl.urls import endpoint_key, read_url

T = TypeVar("T", int, float)


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of one crawl of one world."""

    pages: int
    service_requests: int
    found: int
    reachable: int
    recall: float
    precision: float
    pages_50: int | None
    """Pages downloaded when the crawl had made half of its finds."""
    pages_90: int | None
    pages_100: int | None
    area: float
    false_accepts: tuple[str, ...]
    """Addresses that are catalogued as valid although no valid service answers there."""
    pages_at_finds: tuple[int, ...]
    """Pages downloaded at each find, ascending."""
    curve: tuple[int, ...]
    """The pages_at_finds of the finds that count for the recall."""
    endpoints: tuple[str, ...] = ()
    """Keys of the endpoints found, where no truth names them."""


def measure(world: World, log: Sequence[Request], catalogue: Iterable[tuple[str, str]], budget: int) -> Score:
    """Return the score of a crawl; `catalogue` has (url, kind) of each endpoint catalogued as valid."""
    claimed, false_accepts = read_catalogue(world, catalogue)
    pages_at_finds, pages = read_log(world, log)
    found = [s for s in claimed.values() if s.kind == TOPIC_KIND and s.id in pages_at_finds]
    reachable = sum(s.kind == TOPIC_KIND and s.valid and s.reachable for s in world.services)
    times = sorted(max(1, pages_at_finds[s.id]) for s in found)
    curve = tuple(sorted(max(1, pages_at_finds[s.id]) for s in found if s.reachable))
    return Score(
        pages=pages,
        service_requests=sum(request.kind == "service" for request in log),
        found=len(found),
        reachable=reachable,
        recall=_ratio(len(curve), reachable),
        precision=_ratio(len(found), pages),
        pages_50=at_share(times, 0.5),
        pages_90=at_share(times, 0.9),
        pages_100=at_share(times, 1.0),
        area=area(curve, reachable, budget),
        false_accepts=tuple(false_accepts),
        pages_at_finds=tuple(times),
        curve=curve,
    )


def at_share(times: Sequence[T], share: float) -> T | None:
    """Return the time, in pages or seconds, when this share of all finds had been found; None without finds."""
    return times[max(0, math.ceil(len(times) * share) - 1)] if times else None


def area(times: Iterable[int], reachable: int, budget: int) -> float:
    """Return the mean recall over pages 1 … budget."""
    if not budget or not reachable:
        return 0.0
    return round(sum(budget - time + 1 for time in times if time <= budget) / (budget * reachable), 6)


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0


def read_log(world: World, log: Sequence[Request]) -> tuple[dict[str, int], int]:
    """Return ({service id: pages downloaded when it first described itself}, pages downloaded in all)."""
    pages_at_finds: dict[str, int] = {}
    pages = 0
    for request in log:
        pages += request.is_page
        if request.service is None or request.status != 200 or request.service in pages_at_finds:
            continue
        service = world.by_id[request.service]
        whole = facts_of(service.kind).by_path or service.base.endswith(".xml")
        if whole or request.request == "GetCapabilities":
            pages_at_finds[service.id] = pages
    return pages_at_finds, pages


def read_catalogue(world: World, catalogue: Iterable[tuple[str, str]]) -> tuple[dict[str, TrueService], list[str]]:
    """Return (id → valid service in the catalogue, addresses catalogued wrongly). Slow services count neither way."""
    by_endpoint: dict[str, list[TrueService]] = {}
    for service in world.services:
        for address in (service.base, *service.aliases):
            by_endpoint.setdefault(_endpoint(address), []).append(service)
    claimed: dict[str, TrueService] = {}
    wrong = []
    for address, kind in catalogue:
        meant = _meant(world, by_endpoint, address, kind)
        if meant is None or not (meant.valid or meant.behaviour == "slow"):
            wrong.append(address)
        elif meant.behaviour != "slow":
            claimed.setdefault(meant.id, meant)
    return claimed, wrong


def _meant(
    world: World, by_endpoint: Mapping[str, Sequence[TrueService]], address: str, kind: str
) -> TrueService | None:
    """Return the service of a catalogued address: the one with this endpoint, else one that answers there."""
    same = next((s for s in by_endpoint.get(_endpoint(address), ()) if s.kind == kind), None)
    if same is not None:
        return same
    parameters = {name.lower(): value for name, value in read_query(address)}
    here = [s for s in world.by_place.get(key_of(address).partition("?")[0], ()) if s.kind == kind]
    ranked = [(met, s) for s in here if (met := s.requirements_met(parameters)) is not None]
    return max(ranked, key=lambda entry: entry[0])[1] if ranked else None


def _endpoint(address: str) -> str:
    url = read_url(address)
    return endpoint_key(url) if url is not None else address
