"""Families of portals: from the home page to all pages of the list, through an error in the middle, since a day."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from geocrawl.app.harvest import run_harvest
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.crawler.report import HarvestReport
from geocrawl.detect.software import portal_of_page
from geocrawl.lab.recorded_worlds.replay import Response, error_page
from geocrawl.settings import Settings
from tests.app.recorded_web import Answers, environment
from tests.app.test_records_in_crawls import asked
from tests.support.pages import page, url

SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, strategy="bfs", workers=1)


def service(number: int) -> str:
    """The address of item `number`, whose path reveals no kind."""
    return f"http://m.example/maps/{number}"


@dataclass(frozen=True)
class Family:
    """How the portals of a family look and answer: 7 items in pages of 3; every second one changed in 2024."""

    key: str
    homes: tuple[str, ...]
    path: str
    answer: Callable[[dict[str, str], list[int]], tuple[list[int], dict[str, Any]]]
    """Makes an answer of the query and the numbers of all items that it selects."""
    since: str = ""
    """What the request since a day holds; '' where the interface cannot select by date."""


def by_offset(start: str, first: int = 0) -> Callable[[dict[str, str], list[int]], list[int]]:
    return lambda query, numbers: numbers[int(query.get(start, first)) - first :][:3]


def opendatasoft(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    shown = by_offset("offset")(query, numbers)
    metas = [{"default": {"title": f"Set {n}", "references": f"{service(n)}/ows?service=WMS"}} for n in shown]
    return shown, {"total_count": len(numbers), "results": [{"metas": each} for each in metas]}


def udata(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    number = int(query.get("page", 1))
    shown = numbers[3 * (number - 1) :][:3]
    data = [{"title": f"Set {n}", "resources": [{"url": service(n), "format": "ogc:wms"}]} for n in shown]
    following = (
        f"http://p.example/api/1/datasets/?page_size=100&page={number + 1}" if 3 * number < len(numbers) else None
    )
    return shown, {"data": data, "total": len(numbers), "page": number, "page_size": 3, "next_page": following}


def geonode(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    number = int(query.get("page", 1))
    shown = numbers[3 * (number - 1) :][:3]
    picture = {"link_type": "image", "url": "http://m.example/1.png"}
    rest = "".join(f"&{name}={value}" for name, value in query.items() if name != "page")
    following = f"http://p.example/api/v2/datasets?page={number + 1}{rest}" if 3 * number < len(numbers) else None
    datasets = [{"title": f"Set {n}", "links": [{"link_type": "OGC:WMS", "url": service(n)}, picture]} for n in shown]
    paging = {"total": len(numbers), "page": number, "page_size": 3, "links": {"next": following, "previous": None}}
    return shown, {**paging, "datasets": datasets}


def socrata(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    shown = by_offset("offset")(query, numbers)
    results = [
        {
            "resource": {
                "id": f"abcd-{n}",
                "name": f"Set {n}",
                "description": f"WMS: {service(n)}/ows?service=WMS&request=GetCapabilities",
            }
        }
        for n in shown
    ]
    return shown, {"results": results, "resultSetSize": len(numbers)}


def piveau(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    size = int(query["limit"])
    shown = numbers[int(query["page"]) * size :][:size]
    results = [
        {"title": {"en": f"Set {n}"}, "distributions": [{"access_url": [service(n)], "format": {"id": "WMS"}}]}
        for n in shown
    ]
    return shown, {"result": {"index": "dataset", "count": len(numbers), "results": results}}


FAMILIES = [
    Family(
        "opendatasoft",
        (
            '<link href="https://static.opendatasoft.com/ods.css" rel="stylesheet"><title>Data of the town</title>',
            '<body data-ng-app="ods.front"><header class="ods-front-header">',
            '<div class="ods-box"><a href="/explore/">Data</a></div>',
        ),
        "/api/explore/v2.1/catalog/datasets", opendatasoft, "where=modified",
    ),
    Family(
        "udata",
        (
            '<meta name="generator" content="udata 10.1">',
            '<link rel="stylesheet" href="/static/udata/theme.css">',
            '<script src="/_themes/town/index.js"></script>',
        ),
        "/api/1/datasets/", udata,
    ),
    Family(
        "geonode",
        (
            '<link href="/static/geonode/css/base.css" rel="stylesheet">',
            '<script src="/static/geonode/js/utils.js"></script>',
            'Powered by <a href="https://geonode.org">GeoNode</a>',
        ),
        "/api/v2/datasets", geonode, "filter%7Blast_updated.gte%7D=",
    ),
    Family(
        "socrata",
        (
            '<script src="https://cdn.socrata.com/a.js"></script>',
            "<script>window.socrata = {}</script>",
            '<a href="https://www.socrata.com/">Powered by Socrata</a>',
        ),
        "/api/catalog/v1", socrata,
    ),
    Family(
        "piveau",
        (
            '<div id="app" data-ui="piveau-hub-ui"></div>',
            '<script src="/assets/piveau-header.js"></script>',
            '<meta name="author" content="Powered by piveau">',
        ),
        "/api/hub/search/search", piveau,
    ),
]  # fmt: skip
IDS = [family.key for family in FAMILIES]


class PortalWeb(Answers):
    """A portal of one family. `failing`: answers of its second page before it is right."""

    def __init__(self, family: Family, *failing: Response) -> None:
        super().__init__({"p.example/": ("text/html", family.homes[0].encode())})
        self._family, self._failing = family, [*failing]
        self.read: list[int] = []

    def respond(self, scheme: str, host: str, target: str) -> Response:
        path, _, query = target.partition("?")
        if host != "p.example" or path.rstrip("/") != self._family.path.rstrip("/"):
            return super().respond(scheme, host, target)
        self.asked.append(host + target)
        values = {name: value[0] for name, value in parse_qs(query).items()}
        numbers = [n for n in range(7) if "2024" not in query or n % 2]
        if "limit" in values:
            values["limit"] = "3"  # whatever is asked: portals bound their pages
        shown, data = self._family.answer(values, numbers)
        if self._failing and 3 in shown:
            return self._failing.pop(0)
        self.read += shown
        return Response(200, [("Content-Type", "application/json")], json.dumps(data).encode(), "page")


def harvest(web: Answers, path: Path, address: str, since: str = "") -> HarvestReport:
    return run_harvest(
        SETTINGS, path, url(address), since=since, observer=LogObserver(log_to()), environment=environment(web)
    )


def found(path: Path) -> set[int]:
    """The numbers of the items whose service was named."""
    return {n for n in range(7) for each in asked(path) if each.startswith(service(n))}


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_a_portal_is_read_whole_from_its_home_page(tmp_path: Path, family: Family) -> None:
    web = PortalWeb(family)
    (source,) = harvest(web, tmp_path / "c.db", "http://p.example/").sources
    assert (found(tmp_path / "c.db"), web.read) == (set(range(7)), list(range(7)))
    assert (source.family, source.stated, source.read, source.state) == (family.key, 7, 7, "whole")


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_three_homes_of_each_family_are_recognised(family: Family) -> None:
    for home in family.homes:
        portal = portal_of_page(page(home, address="http://www.example.org/"))
        assert portal is not None and portal.software.key == family.key


BROKEN = Response(200, [("Content-Type", "application/json")], b'{"results": [', "page")


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
@pytest.mark.parametrize("wrong", [error_page(500), BROKEN], ids=["500", "cut off"])
def test_a_page_that_was_wrong_is_read_when_the_harvest_is_repeated(
    tmp_path: Path, family: Family, wrong: Response
) -> None:
    web = PortalWeb(family, wrong)
    report = harvest(web, tmp_path / "c.db", f"http://p.example{family.path}")
    assert found(tmp_path / "c.db") == {0, 1, 2}
    assert [(source.stated, source.read) for source in report.sources] == [(7, 3)] and not report.is_whole
    harvest(web, tmp_path / "c.db", f"http://p.example{family.path}")
    assert found(tmp_path / "c.db") == set(range(7))


@pytest.mark.parametrize(("key", "token"), [("socrata", "$$app_token"), ("opendatasoft", "apikey")])
def test_a_token_is_sent_with_every_page_and_said_nowhere(tmp_path: Path, key: str, token: str) -> None:
    family = next(family for family in FAMILIES if family.key == key)
    web, said = PortalWeb(family), io.StringIO()
    address = url(f"http://p.example{family.path}?{token}=s3cr3t")
    observer = LogObserver(log_to(said))
    report = run_harvest(SETTINGS, tmp_path / "c.db", address, observer=observer, environment=environment(web))
    assert web.read == list(range(7))
    assert all("s3cr3t" in each for each in web.asked if family.path in each)
    assert "s3cr3t" not in "\n".join([said.getvalue(), *report.lines(), *map(str, report.rows())])


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_a_list_since_a_day_is_asked_for_where_the_portal_selects(tmp_path: Path, family: Family) -> None:
    web = PortalWeb(family)
    report = harvest(web, tmp_path / "c.db", f"http://p.example{family.path}", "2024-05-01")
    assert report.since == ("2024-05-01" if family.since else "")
    assert all(family.since in each for each in web.asked if family.path in each)
    assert found(tmp_path / "c.db") == ({1, 3, 5} if family.since else set(range(7)))
