"""Harvests of lists that have more records than their servers give: in slices, to the stated total."""

from __future__ import annotations

import datetime as dt
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from geocrawl.app.harvest import run_harvest
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.cli.status import status_lines
from geocrawl.crawler.report import HarvestReport
from geocrawl.lab.recorded_worlds.replay import Response
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from geocrawl.store.frontier.status import read_status
from tests.app.recorded_web import Answer, Answers, environment
from tests.support.pages import url

SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, strategy="bfs")
EXCEPTION = b"<?xml version='1.0'?><ows:ExceptionReport xmlns:ows='http://www.opengis.net/ows'/>"
WINDOW = 600
BEGIN = dt.datetime(2021, 1, 1)


class Csw:
    """A CSW of records with identifiers and, but for some, dates; it gives no position beyond `WINDOW`."""

    def __init__(
        self,
        records: int,
        undated: int = 0,
        *,
        filters: str = "dct:modified",
        language: str = "FILTER",
        ignored: str = "",
        alike: int = 0,
        window: int = WINDOW,
    ) -> None:
        """`filters`: queryable by which it filters, 'deaf' ignores filters. `language`: the only one that it takes for
        constraints. `ignored`: a language whose constraints it ignores. `alike`: records of one same date."""
        self.filters, self.language, self.ignored, self.window = filters, language, ignored, window
        step = dt.timedelta(days=700) / records
        self.records = [
            (f"{number * 7919 % 36**4:06x}-{number}", BEGIN + step * (0 if number < alike else number))
            if number >= undated
            else (f"{number:06x}-u", None)
            for number in range(records)
        ]
        self.requests = 0

    def __call__(self, query: str) -> Answer:
        self.requests += 1
        values = {name.lower(): each[0] for name, each in parse_qs(query).items()}
        if values.get("request") != "GetRecords":
            return "text/xml", EXCEPTION
        start, rows = int(values["startposition"]), int(values["maxrecords"])
        constraint = values.get("constraint", "") if values.get("constraintlanguage") != self.ignored else ""
        has_date = re.search("dct:modified|apiso:modified|dc:date", constraint)
        is_known = has_date is None or self.filters == "deaf" or self.filters in constraint
        is_known &= not constraint or values["constraintlanguage"] == self.language
        if not is_known or start + rows - 1 > self.window:
            return "text/xml", EXCEPTION
        found = [each for each in self.records if self.filters == "deaf" or _fits(constraint, *each)]
        page = found[start - 1 : start - 1 + rows]
        following = start + rows if start + rows <= len(found) else 0
        inner = "".join(
            f"<csw:Record><dc:identifier>{name}</dc:identifier><dct:references>http://f.example/{name}.zip"
            "</dct:references></csw:Record>"
            for name, _ in page
        )
        return "text/xml", (
            '<?xml version="1.0"?><csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/">'
            f'<csw:SearchResults numberOfRecordsMatched="{len(found)}" numberOfRecordsReturned="{len(page)}" '
            f'nextRecord="{following}">{inner}</csw:SearchResults></csw:GetRecordsResponse>'
        ).encode()


def _fits(constraint: str, name: str, date: dt.datetime | None) -> bool:
    if "PropertyIsNull" in constraint or "IS NULL" in constraint:
        return date is None
    if (prefix := re.search(r"(?:<ogc:Literal>|LIKE ')(\w+)[*%]", constraint)) and not name.startswith(prefix[1]):
        return False
    days = re.findall(r"(?:<ogc:Literal>|')([\d-]+)[<']", constraint)
    if days and (date is None or date.isoformat() < days[0]):
        return False
    spans = re.findall(r"(?:<ogc:Literal>|')([\d-]+T[\d:]+)Z", constraint)
    return not spans or (date is not None and spans[0] <= date.isoformat() < spans[1])


def harvest(
    csw: Callable[[str], Answer], path: Path, *, max_pages: int = 0, since: str = "", **changes: Any
) -> HarvestReport:
    web = Answers({"c.example/csw": csw})
    settings = replace(SETTINGS, **changes)
    within = environment(web)
    counted = replace(within, pages_counted=lambda: len(web.asked))
    address = url("http://c.example/csw?service=CSW&request=GetCapabilities")
    observer = LogObserver(log_to())
    return run_harvest(
        settings, path, address, since=since, max_pages=max_pages, observer=observer, environment=counted
    )


@pytest.mark.parametrize(
    "csw",
    [
        Csw(3000),
        Csw(2500, undated=100),
        Csw(2000, filters="apiso:modified"),
        Csw(2000, alike=1000),
        Csw(1500, undated=50, filters="apiso:modified", language="CQL_TEXT"),
        Csw(1500, filters="dc:identifier"),
        Csw(1500, filters="dc:identifier", language="CQL_TEXT"),
        Csw(1200, undated=20, window=100),
    ],
    ids=[
        "by date",
        "some without a date",
        "by another name of the date",
        "many of one second",
        "in CQL",
        "by identifier",
        "by identifier in CQL",
        "a window of two pages",
    ],
)
def test_a_list_behind_a_window_is_read_whole_in_slices(tmp_path: Path, csw: Csw) -> None:
    report = harvest(csw, tmp_path / "c.db")
    (source,) = report.sources
    assert (source.stated, source.read, source.state) == (len(csw.records), len(csw.records), "whole")
    assert report.is_whole


def test_a_total_that_is_the_size_of_each_page_is_none(tmp_path: Path) -> None:
    csw = Csw(230)

    def without_total(query: str) -> Answer:
        kind, body = csw(query)
        returned = re.search(rb'Returned="(\d+)"', body)
        return kind, re.sub(rb'Matched="\d+"', b'Matched="%s"' % returned[1], body) if returned else body

    report = harvest(without_total, tmp_path / "c.db")
    (source,) = report.sources
    assert (source.stated, source.read, source.state) == (None, 230, "whole") and report.is_whole


def test_a_server_that_ignores_filters_is_told_as_not_read_whole(tmp_path: Path) -> None:
    report = harvest(Csw(2000, filters="deaf"), tmp_path / "c.db")
    (source,) = report.sources
    assert (source.stated, source.read, source.state) == (2000, WINDOW, "short")
    assert report.has_failed
    assert [line for line in report.lines() if line.startswith("600 of 2,000 records read")]
    with open_readonly(tmp_path / "c.db") as connection:
        status = read_status(connection, connection.now())
    lines = list(status_lines(status, tmp_path / "c.db", 0.0, SETTINGS))
    said = "source      600 of 2,000 records read: its server answers with an exception (http://c.example/csw"
    assert [line for line in lines if line.startswith(said)]


def test_a_catalogue_that_moved_to_another_host_is_read_there(tmp_path: Path) -> None:
    csw = Csw(120)
    web = Moved({"www.c.example/csw": csw})
    address = url("http://c.example/csw?service=CSW&request=GetCapabilities")
    report = run_harvest(
        SETTINGS, tmp_path / "c.db", address, observer=LogObserver(log_to()), environment=environment(web)
    )
    assert [(source.read, source.state) for source in report.sources] == [(120, "whole")]


class Moved(Answers):
    """A web whose host c.example has moved to www.c.example."""

    def respond(self, scheme: str, host: str, target: str) -> Response:
        if host == "c.example" and target != "/robots.txt":
            return Response(301, [("Location", f"http://www.c.example{target}")], b"", "page")
        return super().respond(scheme, host, target)


def test_a_harvest_in_slices_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    csw = Csw(3000)
    assert harvest(csw, tmp_path / "c.db", max_pages=30, workers=1).summary.stopped == "max-pages"
    (source,) = harvest(csw, tmp_path / "c.db").sources
    assert (source.read, source.state) == (3000, "whole")
    assert csw.requests < 3000 / 50 + 60


def test_a_second_harvest_in_slices_reads_all_again(tmp_path: Path) -> None:
    harvest(Csw(2000), tmp_path / "c.db")
    (source,) = harvest(Csw(2100), tmp_path / "c.db").sources
    assert (source.stated, source.read, source.state) == (2100, 2100, "whole")


def test_a_list_since_a_day_is_read_in_slices_as_well(tmp_path: Path) -> None:
    csw = Csw(3000)
    (source,) = harvest(csw, tmp_path / "c.db", since="2022-01-01").sources
    expected = sum(date is not None and date >= dt.datetime(2022, 1, 1) for _, date in csw.records)
    assert WINDOW < expected < 3000
    assert (source.stated, source.read, source.state) == (expected, expected, "whole")


@pytest.mark.parametrize("language", ["FILTER", "CQL_TEXT"])
@pytest.mark.parametrize("filters", ["dct:modified", "apiso:modified", "dc:date"])
def test_a_list_since_a_day_is_asked_as_its_server_selects_by_date(tmp_path: Path, filters: str, language: str) -> None:
    csw = Csw(140, undated=10, filters=filters, language=language)
    report = harvest(csw, tmp_path / "c.db", since="2022-01-01")
    expected = sum(date is not None and date >= dt.datetime(2022, 1, 1) for _, date in csw.records)
    assert [(source.stated, source.read) for source in report.sources] == [(expected, expected)]
    assert (report.since, report.is_whole, 50 < expected < 130) == ("2022-01-01", True, True)


def test_a_filter_that_is_ignored_is_replaced_by_one_in_the_other_language(tmp_path: Path) -> None:
    csw = Csw(1500, ignored="FILTER", language="CQL_TEXT")
    report = harvest(csw, tmp_path / "c.db", since="2021-06-01")
    expected = sum(date is not None and date >= dt.datetime(2021, 6, 1) for _, date in csw.records)
    assert WINDOW < expected < 1500
    (source,) = report.sources
    assert (report.since, source.stated, source.read) == ("2021-06-01", expected, expected), "in slices, too"


@pytest.mark.parametrize("filters", ["none", "deaf"])
def test_a_list_of_a_server_that_selects_by_no_date_is_read_whole_and_told_so(tmp_path: Path, filters: str) -> None:
    report = harvest(Csw(120, filters=filters), tmp_path / "c.db", since="2022-01-01")
    assert [(source.stated, source.read) for source in report.sources] == [(120, 120)]
    assert (report.since, report.is_whole) == ("", True)
    assert "The server selects by no date of change: all is read, not only since 2022-01-01." in report.lines()


class Portal(ABC):
    """A list in JSON of 1,500 records with dates from 2021 on, and a window of `WINDOW` records."""

    def __init__(self, span: str, start: str, size: str, first: int) -> None:
        self.span, self.start, self.size, self.first = re.compile(span), start, size, first
        self.dates = [BEGIN + dt.timedelta(hours=11 * number) for number in range(1500)]

    def __call__(self, query: str) -> Answer:
        values = {name: each[0] for name, each in parse_qs(query).items()}
        start, size = int(values.get(self.start, self.first)) - self.first, min(int(values.get(self.size, 100)), 100)
        if start + size > WINDOW:
            return "application/json", b'{"error": "window"}'
        match = self.span.search(" ".join(values.values()))
        lower, upper = (_moment(each) for each in match.groups()) if match else (dt.datetime.min, None)
        found = [n for n, date in enumerate(self.dates) if lower <= date and (upper is None or date < upper)]
        page = found[start : start + size]
        return "application/json", json.dumps(self.page(page, len(found), start + len(page))).encode()

    @abstractmethod
    def page(self, numbers: list[int], total: int, end: int) -> dict[str, Any]:
        """Return a page of records in the form of the family."""


def _moment(text: str) -> dt.datetime:
    if text.isdecimal() or text.startswith("-"):
        return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=int(text))
    return dt.datetime.fromisoformat(text.rstrip("Z"))


class Ckan(Portal):
    def page(self, numbers: list[int], total: int, end: int) -> dict[str, Any]:
        results = [{"id": f"d-{number}", "resources": []} for number in numbers]
        return {"success": True, "result": {"count": total, "results": results}}


class ArcGis(Portal):
    def page(self, numbers: list[int], total: int, end: int) -> dict[str, Any]:
        following = end + 1 if end < min(total, WINDOW) else -1
        results = [{"id": f"d-{number}", "type": "Web Map"} for number in numbers]
        return {"total": total, "num": 100, "start": 1, "nextStart": following, "results": results}


class OpenDataSoft(Portal):
    def page(self, numbers: list[int], total: int, end: int) -> dict[str, Any]:
        return {"total_count": total, "results": [{"dataset_id": f"d-{number}"} for number in numbers]}


class Records(Portal):
    def page(self, numbers: list[int], total: int, end: int) -> dict[str, Any]:
        features = [
            {"id": f"d-{n}", "type": "Feature", "properties": {"type": "dataset", "title": "x"}, "time": None}
            for n in numbers
        ]
        query = f"limit=100&offset={end}" + (f"&datetime={self.asked}" if self.asked else "")
        links = [{"rel": "next", "href": f"http://c.example/collections/x/items?{query}"}] if end < total else []
        return {"type": "FeatureCollection", "numberMatched": total, "features": features, "links": links}

    def __call__(self, query: str) -> Answer:
        self.asked = parse_qs(query).get("datetime", [""])[0]
        return super().__call__(query)


class OldAndComing(Records):
    """Records of data from 1800 to 2149. `undated`: whether every third one has no date, and is in no span."""

    def __init__(self, *, undated: bool = False) -> None:
        super().__init__(r"(\S+Z)/(\S+Z)", "offset", "limit", 0)
        self.dates = [dt.datetime(1800, 1, 1) + dt.timedelta(days=85 * number) for number in range(1500)]
        if undated:
            self.dates[::3] = [dt.datetime.max] * 500


class Socrata(Portal):
    """It goes on beyond the window after the identifier that a request names (Discovery API, deep scrolling)."""

    def __call__(self, query: str) -> Answer:
        after = parse_qs(query).get("scroll_id", [""])[0]
        if not after:
            return super().__call__(query)
        numbers = sorted((n for n in range(len(self.dates)) if self.name(n) > after), key=self.name)
        return "application/json", json.dumps(self.page(numbers[:100], len(self.dates), 0)).encode()

    def name(self, number: int) -> str:
        """Return the identifier of a record: their order is not that of the pages before the window."""
        return f"{number * 7919 % 10_000:04}-{number:04}"

    def page(self, numbers: list[int], total: int, end: int) -> dict[str, Any]:
        results = [{"resource": {"id": self.name(number)}} for number in numbers]
        return {"resultSetSize": total, "results": results}


@pytest.mark.parametrize(
    ("portal", "address"),
    [
        (Ckan(r"metadata_modified:\[(\S+) TO (\S+)\}", "start", "rows", 0), "c.example/api/3/action/package_search"),
        (ArcGis(r"modified:\[(\S+) TO (\S+)\]", "start", "num", 1), "c.example/sharing/rest/search"),
        (
            OpenDataSoft(r"modified>=date'(\S+)' and modified<date'(\S+)'", "offset", "limit", 0),
            "c.example/api/explore/v2.1/catalog/datasets",
        ),
        (OldAndComing(), "c.example/collections/x/items"),
        (Socrata("never", "offset", "limit", 0), "c.example/api/catalog/v1"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_a_list_in_json_behind_a_window_is_read_whole_in_slices(tmp_path: Path, portal: Portal, address: str) -> None:
    web = Answers({address: portal})
    report = run_harvest(
        SETTINGS,
        tmp_path / "c.db",
        url(f"http://{address}"),
        observer=LogObserver(log_to()),
        environment=environment(web),
    )
    assert [(source.stated, source.read, source.state) for source in report.sources] == [(1500, 1500, "whole")]


def test_records_without_a_date_that_no_slice_holds_are_missed_and_said(tmp_path: Path) -> None:
    web = Answers({"c.example/collections/x/items": OldAndComing(undated=True)})
    observer, start = LogObserver(log_to()), url("http://c.example/collections/x/items")
    report = run_harvest(SETTINGS, tmp_path / "c.db", start, observer=observer, environment=environment(web))
    (source,) = report.sources
    assert (source.stated, source.read, source.state) == (1500, 1000 + 200, "short"), "and those before the window"
    assert report.has_failed
