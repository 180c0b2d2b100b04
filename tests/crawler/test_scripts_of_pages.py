"""A crawl of a page whose services stand in a script of its own: the script is read, and only for addresses."""

from __future__ import annotations

from geocrawl.lab.contest.run import FinishedCrawl, replay
from geocrawl.lab.recorded_worlds.replay import Response, error_page
from geocrawl.settings import Settings
from geocrawl.urls import read_url

CAPABILITIES = (
    b'<?xml version="1.0"?><WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name>'
    b"<Title>Roads</Title></Service><Capability><Layer><Title>All</Title><Layer><Name>a</Name><Title>Roads</Title></Layer>"
    b"</Layer></Capability></WMS_Capabilities>"
)
PAGE = """<title>Roads</title><div id="map"></div><script src="/js/jquery.min.js"></script>
<a href="/js/map.js">Map: the map's source</a><script src="/js/map.js?v=7"></script><script src="http://cdn.example.net/map/layers.js"></script><p>Hello"""
SCRIPT = (
    "L.tileLayer.wms('http://gis.example.org/cgi-bin/roads', {layers: 'a'}); go('http://www.example.org/hidden.html');"
)


class SmallWeb:
    """A page, its scripts and one service."""

    def respond(self, scheme: str, host: str, target: str) -> Response:
        path = target.partition("?")[0]
        if (host, path) == ("www.example.org", "/"):
            return Response(200, [("Content-Type", "text/html")], PAGE.encode(), "page")
        if (host, path) == ("www.example.org", "/js/map.js"):
            return Response(302, [("Location", "/assets/9f3.js")], b"", "asset")
        if (host, path) == ("www.example.org", "/assets/9f3.js"):
            return Response(200, [("Content-Type", "application/javascript")], SCRIPT.encode(), "asset")
        if (host, path) == ("gis.example.org", "/cgi-bin/roads") and "getcapabilities" in target.lower():
            return Response(200, [("Content-Type", "text/xml")], CAPABILITIES, "service", "roads", "GetCapabilities")
        return error_page(404)


def crawl(**settings: int) -> FinishedCrawl:
    seed = read_url("http://www.example.org/")
    assert seed is not None
    fixed = {"max_depth": 0, "delay_s": 0.0, "workers": 1, "siblings": 0, "maps": False, "max_attempts": 1}
    return replay(SmallWeb(), [seed], Settings(strategy="bfs", allow_private=True, **{**fixed, **settings}))  # type: ignore[arg-type]


def test_the_script_of_a_page_is_as_deep_as_its_page_and_gives_its_services() -> None:
    crawled = crawl()
    asked = [request.url for request in crawled.log if "robots.txt" not in request.url]
    assert asked[:3] == [
        "http://www.example.org/",
        "http://www.example.org/js/map.js",
        "http://www.example.org/assets/9f3.js",
    ]
    assert not [address for address in asked if "jquery" in address or "hidden" in address or "cdn" in address]
    assert crawled.catalogue == [("http://gis.example.org/cgi-bin/roads", "wms")]


def test_scripts_may_be_left_alone() -> None:
    crawled = crawl(max_scripts_per_page=0)
    assert not [request for request in crawled.log if ".js" in request.url]
    assert crawled.catalogue == []


class ManyScripts(SmallWeb):
    """A page with five scripts that name no service."""

    def respond(self, scheme: str, host: str, target: str) -> Response:
        if target == "/":
            html = "".join(f"<script src='/js/s{n}.js'></script>" for n in range(5))
            return Response(200, [("Content-Type", "text/html")], html.encode(), "page")
        if target.startswith("/js/"):
            return Response(200, [("Content-Type", "application/javascript")], b"go(1)", "asset")
        return error_page(404)


def test_scripts_of_a_host_are_read_while_its_budget_lasts() -> None:
    seed = read_url("http://www.example.org/")
    assert seed is not None
    fixed = Settings(strategy="bfs", allow_private=True, delay_s=0.0, workers=1, max_scripts_per_host=3)
    asked = [request.url for request in replay(ManyScripts(), [seed], fixed).log if ".js" in request.url]
    assert asked == [f"http://www.example.org/js/s{n}.js" for n in range(3)]
