"""A published site in a real browser: opened from the disk and served below a prefix."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from geocrawl.web.static_site.words import words_of
from tests.support.loopback import folder_served
from tests.support.made_catalogue import make_catalogue
from tests.support.samples import sampled
from tests.web import test_in_chromium as chromium
from tests.web.static_site.sites import published

browser, axe = chromium.browser, chromium.axe
TITLES = {
    7: "Peatlands of Norvale",
    8: "Gewässer und Moore",
    9: "省级土地利用总体规划",
    10: "</script><img src=x onerror='window.hit=1'>",
}
WORDS = (
    "Peatlands, forests & Łódź",
    "GEWÄSSER Straße İstanbul ﬁne ½ Ⅻ",
    "省级土地利用总体规划 地",
    "がばんの地図ー 서울 지도 карта ЁЛКА",
    "हिन्दी मानचित्र ไทย خريطة",
    "layer_12 x" + "y" * 50,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of some made services."""
    folder = tmp_path_factory.mktemp("site")
    make_catalogue(folder / "c.db", 30)
    with closing(sqlite3.connect(folder / "c.db", isolation_level=None)) as writer:
        writer.executemany(
            "UPDATE service SET title = ? WHERE id = ?", [(each, number) for number, each in TITLES.items()]
        )
        writer.execute("UPDATE endpoint SET status = 'invalid' WHERE service_id = 8")
    published(folder / "c.db", folder / "below" / "a prefix")
    return folder / "below"


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The address of the site behind a server of files."""

    with folder_served(site) as base:
        yield f"{base}/a%20prefix"


@pytest.fixture(params=["disk", "server"])
def place(request: pytest.FixtureRequest, site: Path) -> str:
    """Where the site stands."""
    if request.param == "disk":
        return f"{site.as_uri()}/a%20prefix"
    address: str = request.getfixturevalue("served")
    return address


def titles(page: Any) -> list[str]:
    """Return the titles of the hits that are shown."""
    found: list[str] = page.locator(".hit h2").all_inner_texts()
    return found


def test_words_find_services_and_lead_to_their_pages(browser: Any, place: str) -> None:
    with chromium.page_of(browser) as (page, said):
        page.goto(f"{place}/index.html")
        page.fill("#q", "peatland")
        page.get_by_role("link", name="Peatlands of Norvale").first.wait_for()
        assert titles(page) == ["Peatlands of Norvale"] and not page.locator("#home").is_visible()
        page.locator(".hit").hover()
        assert page.locator("#map rect.strong").count() == page.locator("#map rect.extent").count() > 0
        assert page.locator("#map").get_attribute("viewBox") != "-180 -90 360 180"
        for words, title in (("gewasser MOORE", TITLES[8]), ("土地利用规划", TITLES[9]), ("onerror", TITLES[10])):
            page.fill("#q", words)
            page.get_by_role("link", name=title).first.wait_for()
            assert titles(page)[0] == title
        page.get_by_role("link", name=TITLES[10]).first.click()
        page.get_by_role("heading", name=TITLES[10]).wait_for()
        page.go_back()
        page.get_by_role("link", name=TITLES[10]).first.wait_for()
        assert page.input_value("#q") == "onerror" and page.evaluate("window.hit") is None
        assert said == []


def test_filters_pages_and_the_map_choose_services(browser: Any, served: str) -> None:
    with chromium.page_of(browser) as (page, said):
        page.goto(f"{served}/index.html?kind=wms")
        page.locator(".hit").first.wait_for()
        assert {each.split("\n")[0] for each in page.locator(".hit .kind").all_inner_texts()} == {"WMS"}
        page.goto(f"{served}/index.html?kind=wms&crs=epsg:4326")
        page.locator(".hit").first.wait_for()
        assert page.input_value("#crs") == "EPSG:4326" and page.input_value("#provider") == ""
        page.goto(f"{served}/index.html?q=moore")
        page.locator(".hit").first.wait_for()
        page.check("#working")
        page.get_by_text("0 services found").wait_for()
        page.goto(f"{served}/index.html?q=survey")
        page.get_by_role("button", name="Next").click()
        page.wait_for_url("**page=2**")
        page.locator("#hits[start='11']").wait_for()
        page.locator("#map").click(position={"x": 200, "y": 100})
        page.wait_for_url("**cell=**")
        page.get_by_role("button", name="place on the map").click()
        page.wait_for_url(lambda address: "cell" not in address)
        page.goto(f"{served}/index.html")
        page.get_by_role("link", name="Office 7", exact=True).click()
        page.locator(".hit .provider", has_text="Office 7").wait_for()
        assert page.input_value("#provider") == "Office 7" and len(titles(page)) == 1
        page.select_option("#kind", "wfs" if page.locator(".hit .kind").inner_text() != "WFS" else "wms")
        page.get_by_text("No service matches").wait_for()
        page.get_by_role("button", name="Remove all filters").click()
        page.locator("#home").wait_for()
        assert said == []


def test_the_browser_divides_texts_as_the_index_does(browser: Any, served: str) -> None:
    with chromium.page_of(browser) as (page, _):
        page.goto(f"{served}/index.html")
        for text in WORDS:
            assert page.evaluate("text => geocrawlWordsOf(text)", text) == list(dict.fromkeys(words_of(text))), text


def test_lists_lead_to_every_page_without_scripts(browser: Any, site: Path) -> None:
    with chromium.page_of(browser, java_script_enabled=False) as (page, _):
        page.goto(f"{site.as_uri()}/a%20prefix/index.html")
        page.locator("header").get_by_role("link", name="All services").click()
        page.locator("main a").first.click()
        page.get_by_role("link", name="Peatlands of Norvale").click()
        page.get_by_role("heading", name="Peatlands of Norvale").wait_for()


@pytest.mark.parametrize("look", sampled(chromium.LOOKS, "light"))
def test_no_page_has_a_serious_fault_of_accessibility(browser: Any, served: str, axe: str, look: str) -> None:
    with chromium.page_of(browser, **chromium.LOOKS[look], bypass_csp=True) as (page, _):
        for path in ("index.html", "index.html?q=survey", "services/0/7.html", "services/index.html"):
            page.goto(f"{served}/{path}")
            page.wait_for_load_state("networkidle")
            page.evaluate(axe)
            for scheme, rules in (("light", ""), ("dark", "{runOnly: ['color-contrast']}")):
                page.emulate_media(color_scheme=scheme)
                found = page.evaluate(f"axe.run({rules})")
                assert found["passes"] and chromium.serious(found) == [], (path, scheme, chromium.serious(found))
            wide = page.locator("html, .search, .filters").evaluate_all(
                "all => Math.max(...all.map(each => each.scrollWidth - each.clientWidth))"
            )
            assert wide <= 0, f"{path} scrolls sideways by {wide} pixels"
