"""Crawl a closed web in virtual time with one worker, and return every request in order.

The one file that knows the laboratory's modules: `geocrawl evaluate` runs its crawls in this way but prints no orders.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl

from geocrawl.demo import DemoWeb
from geocrawl.lab.contest.run import FinishedCrawl, Job, read_seeds, replay, settings_for
from geocrawl.lab.recorded_worlds.replay import Response, WorldWeb
from geocrawl.lab.recorded_worlds.world import World

TODAY = datetime.date(2025, 1, 1)
"""The day at which the calendar of the demo's web opens."""


def crawl_demo(strategy: str, budget: int, options: Mapping[str, str], **more: object) -> list[str]:
    """Crawl the demo's web; return its requests."""
    web = _DemoWeb()
    settings = settings_for(Job(Path(), strategy, budget, options, **more))  # type: ignore[arg-type]
    return _lines(replay(web, read_seeds(web.seeds), settings))


def crawl_world(folder: Path, strategy: str, budget: int, options: Mapping[str, str], **more: object) -> list[str]:
    """Crawl a made or recorded web; return its requests."""
    world = World(folder)
    settings = settings_for(Job(folder, strategy, budget, options, **more))  # type: ignore[arg-type]
    return _lines(replay(WorldWeb(world), read_seeds(world.seeds), settings))


class _DemoWeb:
    """The demo's web without its server."""

    def __init__(self) -> None:
        self._web = DemoWeb(today=TODAY)
        self.seeds = self._web.seeds

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """Return the answer to a GET."""
        answer, _ = self._web.respond("GET", f"{scheme}://{host}{target}")
        headers = [*answer.headers, ("Content-Type", answer.content_type)]
        return Response(answer.status, headers, answer.body, self._web.requests[-1].kind)


def _lines(crawled: FinishedCrawl) -> list[str]:
    """Return a line for each request, and one that says why the crawl ended.

    A page is its address alone; of a service's requests the operation is told. Statuses other than 200 are told.
    """
    lines = []
    for request in crawled.log:
        address = request.url.removeprefix("http://")
        line = f"{request.kind} {_operation(address)}" if request.kind != "page" else address
        lines.append(line if request.status == 200 else f"{line} -> {request.status}")
    return [*lines, f"ended: {crawled.stopped}", f"valid: {len(crawled.catalogue)}"]


def _operation(address: str) -> str:
    """Return the address of a service's request with the operation and the parameters of the server's own."""
    place, _, query = address.partition("?")
    told = [value for name, value in parse_qsl(query) if name.lower() in ("request", "service", "map")]
    return " ".join([place, *told])
