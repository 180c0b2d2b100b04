"""Trap guards: addresses that a site makes without end."""

from __future__ import annotations

import csv
import datetime
from pathlib import Path

import pytest
from hypothesis import given

from geocrawl.crawler.refusals import MissingFolders, TrapGuard
from geocrawl.model import Url
from geocrawl.urls import query_group, read_url
from tests.urls.strategies import texts

TODAY = datetime.date(2026, 6, 15)


@pytest.fixture
def guard() -> TrapGuard:
    return TrapGuard(TODAY)


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None, text
    return found


@pytest.mark.parametrize(
    "path",
    [
        "/a/a/a",
        "/x/a/b/a/b/a/b/",
        "/a/x/a/y/a",
        "/docs/a/../docs/docs/docs/i.html",
        "/a//b//c//d",
        "/%E5%9C%B0/地/x/地",
    ],
)
def test_repeating_path_segments_are_a_trap(guard: TrapGuard, path: str) -> None:
    assert guard.reason(url("http://a.org" + path)) == "trap:repeat"


@pytest.mark.parametrize(
    "path", ["/a/a/b", "/a/b/a/b", "/2011/11/11/11.html", "/tms/1.0.0/0/0/0/0", "/a/b/c/d/e/f/g/h/i", "/", "//"]
)
def test_ordinary_paths_are_none(guard: TrapGuard, path: str) -> None:
    assert guard.reason(url("http://a.org" + path)) == ""


def test_a_very_long_address_is_a_trap(guard: TrapGuard) -> None:
    assert guard.reason(url("http://a.org/" + "x" * 2000)) == "trap:long"
    assert guard.reason(url("http://a.org/" + "x" * (2000 - len("http://a.org/")))) == ""


@pytest.mark.parametrize(
    "target",
    [
        "/calendar/2031/05",
        "/calendar/2031-05-17",
        "/events/203105",
        "/Kalender.php?monat=12&jahr=2019",
        "/calendar?date=17.05.2019",
        "/calendar?year=2040",
        "/termine/?tag=20191224",
        "/x?year=2019&month=1",
        "/日历?ym=2019-01",
        "/index.php?view=calendar&m=3&y=1999",
        "/agenda/12-1999/",
    ],
)
def test_a_calendars_page_far_from_today_is_a_trap(guard: TrapGuard, target: str) -> None:
    assert guard.reason(url("http://a.org" + target)) == "trap:calendar"


@pytest.mark.parametrize(
    "target",
    [
        "/calendar/2026/05",
        "/calendar/2029/06",
        "/calendar/2023-06-15",
        "/calendar?year=2029",
        "/calendar/",
        "/events/2009/",
        "/events/1024/12",
        "/event?id=123456",
        "/archive/1999/05/report.html",
        "/data?time=1999-01-01",
        "/prevents/1999/05",
        "/calendar/2026-06?from=1999-01",
        "/x?year=1999",
        "/wms?service=WMS&request=GetMap&time=1999-05-01",
    ],
)
def test_other_pages_with_dates_are_none(guard: TrapGuard, target: str) -> None:
    assert guard.reason(url("http://a.org" + target)) == ""


def test_addresses_that_differ_in_their_query_are_one_group() -> None:
    assert (
        query_group(url("http://A.org:8080/x/%7ey?a=1"))
        == query_group(url("https://a.org:8080/x/~y?b"))
        == "a.org:8080/x/~y"
    )
    assert query_group(url("http://a.org/x")) != query_group(url("http://a.org/X"))


@given(texts)
def test_no_url_makes_it_raise(text: str) -> None:
    if found := read_url(text, "http://a.org/x"):
        assert TrapGuard(TODAY).reason(found) in ("", "trap:long", "trap:repeat", "trap:calendar")


@pytest.mark.shared
def test_no_service_of_the_corpus_is_a_trap(shared: Path, guard: TrapGuard) -> None:
    with (shared / "corpus/urls.csv").open(encoding="utf-8", newline="") as file:
        rows = [row["url"] for row in csv.DictReader(file) if row["label"] != "other"]
    assert [text for text in rows if (found := read_url(text)) and guard.reason(found)] == []


def test_a_folder_whose_pages_are_all_missing_is_asked_for_one_in_sixteen() -> None:
    folders = MissingFolders()
    named = [url(f"http://a.org/docs/1.{n % 5}/api/p{n % 7}/c{n}.html") for n in range(1_000)]
    asked = 0
    for address in named:
        if not folders.holds(address):
            asked += 1
            folders.note(address, 404 if asked % 2 else 410)
    assert 10 < asked < 110
    assert not folders.holds(url("http://a.org/")) and not folders.holds(url("http://a.org/about/us.html"))
    assert not folders.holds(url("http://b.org/docs/1.1/api/p1/c1.html"))


def test_a_folder_with_a_page_is_none() -> None:
    folders = MissingFolders()
    folders.note(url("http://a.org/docs/index.html"), 200)
    for number in range(100):
        address = url(f"http://a.org/docs/{number}.html")
        assert not folders.holds(address)
        folders.note(address, 404)


def test_a_page_that_is_there_after_all_opens_its_folder() -> None:
    folders = MissingFolders()
    addresses = [url(f"http://a.org/x/{name}.html") for name in "abcdefghijklmnopqrstuvwxyz"]
    for address in addresses[:10]:
        folders.note(address, 404)
    assert any(map(folders.holds, addresses))
    folders.note(addresses[10], 200)
    assert not any(map(folders.holds, addresses))


def test_pages_made_of_files_of_another_kind_are_a_folder_of_their_own() -> None:
    folders = MissingFolders()
    for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz"):
        folders.note(url(f"http://a.org/api/{letter}.html"), 200)
        folders.note(url(f"http://a.org/api/{letter}_{number}.js.html"), 404)
    listed = [url(f"http://a.org/api/src_{letter}.js.html") for letter in "abcdefghijklmnopqrstuvwxyz"]
    assert sum(map(folders.holds, listed)) > 20
    assert not folders.holds(url("http://a.org/api/map.html")) and not folders.holds(url("http://a.org/api/1.2.html"))
    folders.note(listed[0], 200)
    assert not any(map(folders.holds, listed))


def test_errors_of_a_server_say_nothing_about_its_folders() -> None:
    folders = MissingFolders()
    for number, status in enumerate((500, 503, 429, 403, None) * 10):
        folders.note(url(f"http://a.org/x/{number}.html"), status)
    assert not folders.holds(url("http://a.org/x/y.html"))
