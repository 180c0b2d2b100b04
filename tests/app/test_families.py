"""Families of portals: from the home page to all pages of the list, through an error in the middle, since a day."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geocrawl.app.harvest import run_harvest
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.crawler.report import HarvestReport
from geocrawl.detect.software import portal_of_page
from geocrawl.lab.recorded_worlds.replay import Response, error_page
from geocrawl.settings import Settings
from tests.app.families import FAMILIES, IDS, Family, PortalWeb, service
from tests.app.recorded_web import Answers, environment
from tests.app.test_records_in_crawls import asked
from tests.support.pages import page, url

SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, strategy="bfs", workers=1)


def harvest(web: Answers, path: Path, address: str, since: str = "") -> HarvestReport:
    return run_harvest(
        SETTINGS, path, url(address), since=since, observer=LogObserver(log_to()), environment=environment(web)
    )


def found(path: Path) -> set[int]:
    """The numbers of the items whose service was named."""
    return {n for n in range(7) for each in asked(path) if each.startswith(service(n))}


def address_of(family: Family) -> str:
    """The first page of a family's list."""
    return f"http://p.example{family.path}" + (f"?{family.query}" if family.query else "")


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_a_portal_is_read_whole_from_its_home_page_or_its_list(tmp_path: Path, family: Family) -> None:
    web = PortalWeb(family)
    start = "http://p.example/" if family.homes else address_of(family)
    (source,) = harvest(web, tmp_path / "c.db", start).sources
    assert (found(tmp_path / "c.db"), list(dict.fromkeys(web.read))) == (set(range(7)), list(range(7)))
    assert (source.family, source.stated, source.read, source.state) == (family.key, 7, 7, "whole")


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_the_homes_of_each_family_are_recognised(family: Family) -> None:
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
    report = harvest(web, tmp_path / "c.db", address_of(family))
    assert found(tmp_path / "c.db") == {0, 1, 2}
    assert [(source.stated, source.read) for source in report.sources] == [(7, 3)] and not report.is_whole
    assert report.summary.reasons == ({"truncated": 1} if wrong is BROKEN else {"http-500": 1})
    harvest(web, tmp_path / "c.db", address_of(family))
    assert found(tmp_path / "c.db") == set(range(7))


@pytest.mark.parametrize(
    ("key", "name", "total"),
    [("ckan", "count", "unknown"), ("opendatasoft", "total_count", -1), ("socrata", "resultSetSize", None)],
)
def test_a_list_that_states_no_total_is_read_to_its_last_page(
    tmp_path: Path, key: str, name: str, total: object
) -> None:
    family = next(family for family in FAMILIES if family.key == key)

    def answer(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
        shown, data = family.answer(query, numbers)
        data.get("result", data)[name] = total
        return shown, data

    web = PortalWeb(replace(family, answer=answer))
    (source,) = harvest(web, tmp_path / "c.db", address_of(family)).sources
    assert (web.read, source.stated, source.read, source.state) == (list(range(7)), None, 7, "whole")


@pytest.mark.parametrize("origin", ["http://geonode:8080", "http://10.1.2.3", "http://localhost", "https://p.example"])
def test_a_next_page_at_an_address_behind_the_proxy_is_read_where_the_page_was(tmp_path: Path, origin: str) -> None:
    family = next(family for family in FAMILIES if family.key == "ogcapi-records")

    def answer(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
        shown, data = family.answer(query, numbers)
        return shown, json.loads(json.dumps(data).replace("http://p.example", origin))

    web = PortalWeb(replace(family, answer=answer))
    assert harvest(web, tmp_path / "c.db", address_of(family)).is_whole
    assert list(dict.fromkeys(web.read)) == list(range(7))


@pytest.mark.parametrize("key", ["ogcapi-records", "collections"])
@pytest.mark.parametrize("takes", [True, False], ids=["GET too", "POST alone"])
def test_a_next_page_by_post_is_requested_by_get_or_missed_and_said(tmp_path: Path, key: str, takes: bool) -> None:
    """Records state no total here, so only the page that comes again shows that the server takes no parameters."""
    family = next(family for family in FAMILIES if family.key == key)
    name = "offset" if key == "ogcapi-records" else "token"

    def answer(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
        shown, data = family.answer(query if takes else {}, numbers)
        for each in data["links"]:
            each["href"], _, value = each["href"].partition(f"?{name}=")
            each |= {"method": "POST", "body": {name: int(value) if value.isdecimal() else value}, "merge": True}
        return shown, {**data, **({"numberMatched": None} if key == "ogcapi-records" else {})}

    web = PortalWeb(replace(family, answer=answer))
    report = harvest(web, tmp_path / "c.db", address_of(family) + "?limit=3")
    assert report.is_whole == takes and report.has_failed != takes
    assert list(dict.fromkeys(web.read)) == (list(range(7)) if takes else [0, 1, 2])


def test_a_list_whose_tokens_go_in_a_circle_is_not_called_whole(tmp_path: Path) -> None:
    family = next(family for family in FAMILIES if family.key == "collections")

    def answer(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
        shown, data = family.answer(query, numbers)
        back = "http://p.example/stac/collections?token=at-3"
        return shown, {**data, "links": [{"rel": "next", "href": back}] if 5 in shown else data["links"]}

    report = harvest(PortalWeb(replace(family, answer=answer)), tmp_path / "c.db", address_of(family))
    assert [(source.stated, source.read) for source in report.sources] == [(7, 6)]
    assert report.has_failed and "Ended: no page is left to read, but not all records are read." in report.lines()


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


@pytest.mark.parametrize("family", [each for each in FAMILIES if each.key != "geonetwork"], ids=lambda each: each.key)
def test_a_list_since_a_day_is_asked_for_where_the_portal_selects(tmp_path: Path, family: Family) -> None:
    web = PortalWeb(family)
    report = harvest(web, tmp_path / "c.db", address_of(family), "2024-05-01")
    assert report.since == ("2024-05-01" if family.since else "")
    assert all(family.since in each for each in web.asked if family.path in each)
    assert found(tmp_path / "c.db") == ({1, 3, 5} if family.since else set(range(7)))
