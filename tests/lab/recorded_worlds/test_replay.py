"""A replay answers as the server of recorded webs does, and costs no real time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from geocrawl.lab.contest.run import Job, read_seeds, replay, run, settings_for
from geocrawl.lab.recorded_worlds.replay import ReplayClock, Response, WorldWeb, error_page
from geocrawl.lab.recorded_worlds.services import png
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.settings import Settings
from tests.lab.conftest import Recorded

ASKED = (
    "",
    "service=WMS&request=GetCapabilities",
    "SERVICE=WFS&VERSION=1.0.0&REQUEST=getcapabilities",
    "request=GetMap&layers=a&width=20&height=10",
    "request=GetMap",
    "request=GetFeatureInfo",
    "request=GetLegendGraphic",
    "request=GetTile",
    "request=Nonsense&version=1.3.0",
    "f=json",
    "f=html",
)


@pytest.mark.shared
def test_every_address_of_an_access_log_is_answered_as_the_server_answers(recorded: Recorded) -> None:
    server = recorded.server
    world, web = server.World(str(recorded.world.folder)), WorldWeb(recorded.world)
    addresses = {request.url for request in recorded.crawled.log}
    for service in recorded.world.services:
        joint = "&" if "?" in service.base else "?"
        addresses |= {service.base + joint + query for query in ASKED}
        addresses |= set(service.aliases)
    addresses |= {"http://nowhere.example/", "https://www.hao-daohang.example/", "http://www.hao-daohang.example/no"}
    for address in sorted(addresses):
        scheme, host, target = server.split_url(address)
        theirs = server.respond(world, "GET", scheme, host, target, {}, b"")
        ours = web.respond(scheme, host, server.norm_target(target))
        said = (ours.status, ours.kind, ours.service, ours.request, ours.seconds)
        assert said == (theirs.status, theirs.kind, theirs.service, theirs.request, theirs.delay), address
        types = [
            {name.lower(): value for name, value in answer.headers}.get("content-type") for answer in (ours, theirs)
        ]
        assert types[0] == types[1], address
        if ours.kind in ("page", "robots", "sitemap", "asset") or _is_document(theirs.body, ours.service):
            assert ours.body == theirs.body, address


def _is_document(body: bytes, service: str | None) -> bool:
    return service is not None and any(mark in body[:3000] for mark in (b"Capabilities", b'"links"', b"<Service>"))


def test_the_longest_waits_cost_no_real_time(small: Path) -> None:
    began = time.monotonic()
    world = World(small)
    done = replay(WorldWeb(world), read_seeds(world.seeds), settings_for(Job(small, "bfs", 100)))
    assert ("http://maps.small.example/slow", "wms") in done.catalogue
    assert time.monotonic() - began < 20


def test_a_replay_obeys_robots_and_stops_at_its_budget(small: Path) -> None:
    whole = run(Job(small, "bfs", 100))
    assert "www.small.example/secret/a.html" not in whole.visited
    assert whole.score.pages == 5
    part = run(Job(small, "bfs", 2))
    assert part.visited == whole.visited[:2]
    assert part.stopped == "max-pages"


def test_the_same_replay_twice_asks_the_same_in_the_same_order(small: Path) -> None:
    world = World(small)
    logs = [
        replay(WorldWeb(world), read_seeds(world.seeds), settings_for(Job(small, "gws", 100))).log for _ in range(2)
    ]
    assert logs[0] == logs[1]


async def test_virtual_sleep_moves_the_clock() -> None:
    clock = ReplayClock()
    before = clock.now()
    await clock.sleep(3600)
    assert clock.now() - before == 3600
    assert clock.monotonic() == 3600


def test_a_map_is_a_png_of_its_size() -> None:
    image = png(3, 2)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert image[16:24] == bytes((0, 0, 0, 3, 0, 0, 0, 2))


class CookieWeb:
    """A page that is reached only with the cookie that its redirect sets."""

    def respond(self, scheme: str, host: str, target: str) -> Response:
        if target == "/":
            return Response(302, [("Location", "/in"), ("Set-Cookie", "a=1")], b"", "page")
        if target == "/in":
            return Response(200, [("Content-Type", "text/html")], b"<title>In</title>", "page")
        return error_page(404)


def test_a_redirect_of_a_replayed_web_may_set_a_cookie() -> None:
    done = replay(CookieWeb(), read_seeds(["http://a.example/"]), Settings(strategy="bfs", delay_s=0.0))
    assert [request.url for request in done.log if request.status != 404][-1] == "http://a.example/in"
    assert done.stopped == "done"
