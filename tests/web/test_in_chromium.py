"""The pages in a real browser: search by words and by a drawn box, previews, keyboard, hostile texts, accessibility."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from geocrawl.browser.renderer import find_chromium
from geocrawl.demo import DemoWeb
from geocrawl.errors import GeocrawlError
from tests.support.commands import geocrawl
from tests.support.parts import CHROMIUM, lack
from tests.support.samples import sampled
from tests.web.conftest import served

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")

ITEMS = "/collections/services/items"
PATIENCE_MS = 300_000
WIDE = {"viewport": {"width": 1360, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def address(crawled: Path, demo_web: DemoWeb) -> Iterator[str]:
    """The address of the demo's catalogue."""
    with served(crawled, demo_web) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; a test skips where it is not installed."""
    try:
        path = find_chromium("")
    except GeocrawlError:
        lack(CHROMIUM)
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@contextmanager
def page_of(browser: Any, **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page, and what its console said."""
    context = browser.new_context(**({**WIDE} | options))
    context.set_default_timeout(PATIENCE_MS)
    page, said = context.new_page(), list[str]()
    page.on("console", lambda message: None if "willReadFrequently" in message.text else said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
    yield page, said
    context.close()


def test_words_find_services_while_they_are_typed(browser: Any, address: str) -> None:
    with page_of(browser) as (page, said):
        page.goto(f"{address}/")
        page.keyboard.type("glacier")
        page.keyboard.press("Enter")
        page.wait_for_url("**/items?q=glacier")
        page.get_by_role("link", name="Glacier inventory").first.wait_for()
        page.fill("#q", "water quality")
        page.get_by_role("link", name="Water quality", exact=True).first.wait_for()
        page.wait_for_url("**q=water*quality**")
        assert page.locator("html").count() == 1, "a part was put into the page, not a page"
        page.go_back()
        page.get_by_role("link", name="Glacier inventory").first.wait_for()
        assert page.locator("header.top").count() == 1 and page.input_value("#q") == "glacier", "a whole page again"
        assert said == []


def test_a_box_is_drawn_on_the_map(browser: Any, address: str) -> None:
    with page_of(browser) as (page, said):
        page.goto(f"{address}{ITEMS}?sortby=title")
        before = page.locator(".hit").count()
        canvas = page.locator(".map canvas").first
        canvas.wait_for()
        page.wait_for_load_state("networkidle")
        place = page.locator(".map").bounding_box()
        x, y = place["x"] + place["width"] * 0.8, place["y"] + place["height"] * 0.25
        draw_box(page, x, y, x + 60, y + 140)
        page.locator(".summary").wait_for()
        page.wait_for_load_state("networkidle")
        sides = [float(side) for side in page.input_value("#bbox").split(",")]
        assert sides[0] > 60 and sides[1] < sides[3]
        assert 0 < page.locator(".hit").count() < before
        page.locator(".chosen-list").get_by_role("link", name="Place").click()
        page.wait_for_url(lambda address: "bbox" not in address)
        assert page.locator(".hit").count() == before and page.input_value("#bbox") == ""
        assert said == []


def draw_box(page: Any, left: float, top: float, right: float, bottom: float) -> None:
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move(right, bottom, steps=6)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_url("**bbox=**")


def test_the_map_shows_where_results_are_though_one_of_them_covers_the_world(browser: Any, address: str) -> None:
    with page_of(browser) as (page, _):
        page.goto(f"{address}{ITEMS}?q=glacier")
        page.locator(".map canvas").first.wait_for()
        page.evaluate(
            """() => {
                const known = document.getElementById("extents");
                const world = {id: 0, box: [-180, -90, 180, 90], title: ""};
                known.textContent = JSON.stringify([...JSON.parse(known.textContent), world]);
                document.body.dispatchEvent(new CustomEvent("htmx:afterSettle"));
            }"""
        )
        place = page.locator(".map").bounding_box()
        left, top = place["x"] + 5, place["y"] + 90  # below the buttons
        draw_box(page, left, top, place["x"] + place["width"] - 5, place["y"] + place["height"] - 60)
        west, south, east, north = (float(side) for side in page.input_value("#bbox").split(","))
        assert west < 8 < east < west + 40 and south < 47 < north


def test_another_order_is_shown_at_once(browser: Any, address: str) -> None:
    with page_of(browser) as (page, said):
        page.goto(f"{address}{ITEMS}?q=water")
        page.select_option("#sortby", "title")
        page.wait_for_url("**sortby=title**")
        page.wait_for_load_state("networkidle")
        titles = [title.lower() for title in page.locator(".hit h2").all_inner_texts()]
        assert titles == sorted(titles) and said == []


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_first_result_is_on_the_first_screen_of_a_phone(browser: Any, address: str, locale: str) -> None:
    with page_of(browser, **PHONE, locale=locale) as (page, said):
        for query in (f"{ITEMS}?q=water", f"{ITEMS}?q=water&bbox=-60,-30,20,30", "/layers?q=rivers"):
            page.goto(f"{address}{query}")
            page.wait_for_load_state("networkidle")
            assert page.locator(".hit").first.bounding_box()["y"] < 844 - 150, query
        page.fill("#q", "glacier")
        page.wait_for_url("**q=glacier**")
        page.wait_for_load_state("networkidle")
        assert page.locator(".facet[open]").count() == 0, "filters that came with the results are folded, too"
        assert said == []


def test_a_layer_is_previewed_on_the_map(browser: Any, address: str, crawled: Path) -> None:
    reader = sqlite3.connect(crawled)
    number = reader.execute(
        "SELECT s.id FROM service s JOIN endpoint e ON e.id = s.best_id WHERE s.kind = 'wms' AND e.level = 'delivers' "
        "AND s.title = 'Glacier inventory'"
    ).fetchone()[0]
    reader.close()
    with page_of(browser) as (page, said):
        page.goto(f"{address}{ITEMS}/{number}")
        page.wait_for_load_state("networkidle")
        button = page.locator("[data-preview]").first
        with page.expect_response("**/preview?**") as coming:
            button.click()
        assert coming.value.status == 200
        page.get_by_text("Preview of what the service sent.").wait_for()
        assert button.get_attribute("aria-pressed") == "true"
        second = page.locator("[data-preview]").nth(1)
        with page.expect_response("**/preview?**"):
            second.click()
        page.locator("#legends figure").nth(1).wait_for()
        page.locator("#preview-opacity").fill("50")
        with page.expect_response("**/info?**"):
            page.locator("[data-map=service]").click()
        page.get_by_text("Feature 1:").wait_for()
        button.click()
        assert [each.get_attribute("aria-pressed") for each in (button, second)] == ["false", "true"]
        assert page.locator("#legends figure").count() == 1, "the other one stays, with its legend"
        assert said == []


@pytest.mark.parametrize("kind", ["wms", "wmts"])
def test_a_layer_has_a_picture_of_its_own(browser: Any, address: str, kind: str) -> None:
    with page_of(browser) as (page, said):
        page.goto(f"{address}/layers?kind={kind}")
        page.locator("[data-picture]").first.click()
        page.locator(".hit img.thumb").first.wait_for()
        assert said == []


@pytest.mark.parametrize("kind", ["wfs", "ogcapi", "tms", "wmts", "wcs", "arcgis"])
def test_layers_of_other_kinds_are_drawn_by_the_browser(browser: Any, address: str, crawled: Path, kind: str) -> None:
    with closing(sqlite3.connect(crawled)) as reader:
        (number,) = reader.execute(
            "SELECT min(service_id) FROM endpoint WHERE kind = ? AND status = 'valid'",
            (kind,),
        ).fetchone()
    with page_of(browser) as (page, said):
        page.goto(f"{address}{ITEMS}/{number}")
        page.wait_for_load_state("networkidle")
        before = page.locator("[data-map=service]").screenshot()
        page.locator("[data-preview]").first.click()
        page.get_by_text("Preview of what the service sent.").wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(500)
        assert page.locator("[data-map=service]").screenshot() != before, "something is drawn"
        assert said == []


def test_a_visitor_with_a_keyboard_gets_everywhere(browser: Any, address: str) -> None:
    with page_of(browser) as (page, said):
        page.goto(f"{address}{ITEMS}")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        reached = set()
        for _ in range(80):  # the filters come first, and there are fifteen kinds
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "(document.activeElement.id || document.activeElement.className || document.activeElement.tagName)"
                )
            )
            if page.evaluate("document.activeElement.closest('.hit') !== null"):
                break
        assert {"q", "sortby"} <= reached
        page.keyboard.press("Enter")
        page.wait_for_url("**/items/*")
        copy = page.locator(".copy").first
        copy.focus()
        page.keyboard.press("Enter")
        page.get_by_text("Copied").wait_for()
        assert said == []


def test_pages_work_without_scripts(browser: Any, address: str) -> None:
    with page_of(browser, java_script_enabled=False) as (page, _):
        page.goto(f"{address}/")
        page.fill("#q", "glacier")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="Glacier inventory").first.click()
        page.get_by_role("heading", name="Glacier inventory").wait_for()


# --------------------------------------------------------------------------- accessibility


PAGES = [
    "/",
    f"{ITEMS}?q=water",
    f"{ITEMS}/1",
    f"{ITEMS}/5",
    "/operations",
    "/statistics",
    "/layers?q=rivers",
    "/providers",
    "/providers?name=Norvale+Mapping+Office",
    "/api",
    "/none",
]


LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "phone": PHONE,
    "chinese": {"locale": "zh-CN"},
}


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, which the package axe-playwright-python carries."""
    carrier = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (files(carrier) / "axe.min.js").read_text("utf-8")


def serious(found: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return the serious faults that axe found, each with some of the places."""
    return [
        (each["id"], [node["target"] for node in each["nodes"]][:5])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("look", sampled(LOOKS, "light"))
def test_no_page_has_a_serious_fault_of_accessibility(browser: Any, address: str, axe: str, look: str) -> None:
    with page_of(browser, **LOOKS[look]) as (page, _):
        for path in PAGES:
            page.goto(f"{address}{path}")
            page.evaluate(axe)
            found = page.evaluate("axe.run({rules: {'target-size': {enabled: true}}})")  # WCAG 2.2; off by itself
            assert len(found["passes"]) > 10 and serious(found) == [], (path, serious(found))
            if look == "light":  # the same page in dark: only its colours differ
                page.emulate_media(color_scheme="dark")
                found = page.evaluate("axe.run({runOnly: ['color-contrast']})")
                assert found["passes"] and serious(found) == [], (path, serious(found))
                page.emulate_media(color_scheme="light")
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"{path} is wider than the window by {wide} pixels"


# --------------------------------------------------------------------------- hostile texts


HOSTILE = (
    "<script>window.hit=1</script>",
    "</script><script>window.hit=1</script>",
    "\"><img src=x onerror='window.hit=1'>",
    "javascript:window.hit=1",
    "<svg onload=window.hit=1>",
    "{{constructor.constructor('window.hit=1')()}}",
    "<div hx-get='/operations' hx-trigger='load' hx-on:load='window.hit=1'>",
)


def test_no_text_of_the_web_runs(browser: Any, catalogue: Path, demo_web: DemoWeb) -> None:
    text = " ".join(HOSTILE)
    writer = sqlite3.connect(catalogue, isolation_level=None)
    writer.execute("UPDATE service SET title = ?, abstract = ?, provider = ?, online_resource = ?", (text,) * 4)
    writer.execute("UPDATE service SET keywords = ?", (json.dumps(HOSTILE),))
    writer.execute("UPDATE layer SET title = ?", (text,))
    writer.execute("UPDATE endpoint SET deviations = ?", (json.dumps([{"code": text, "detail": text}]),))
    writer.execute("UPDATE evidence SET page = ? || id, anchor = ?", (HOSTILE[3], text))
    writer.close()
    with served(catalogue, demo_web) as address, page_of(browser) as (page, said):
        paths = ["/", ITEMS, f"{ITEMS}/1", f"{ITEMS}/5", "/operations", "/statistics", "/providers"]
        for path in [
            *paths,
            *(f"{ITEMS}?q={each}" for each in HOSTILE),
            *(f"{ITEMS}/1?layers={each}" for each in HOSTILE),
        ]:
            page.goto(f"{address}{path}")
            page.wait_for_timeout(100)  # what runs once the page is loaded has run
            assert page.evaluate("window.hit") is None, path
        page.goto(f"{address}{ITEMS}")
        page.mouse.move(1100, 250)
        for link in page.locator("a[href^='javascript'], iframe, [onload], [onerror]").all():
            pytest.fail(link.evaluate("element => element.outerHTML"))
        assert [each for each in said if "400" not in each] == []


@pytest.mark.parametrize("more", [("--by", "provider"), ("--month", time.strftime("%Y-%m", time.gmtime()))])
@pytest.mark.parametrize("look", [{"viewport": {"width": 1280, "height": 900}}, PHONE], ids=["wide", "phone"])
def test_no_word_of_a_report_is_broken(
    browser: Any, crawled: Path, tmp_path: Path, more: tuple[str, ...], look: dict[str, Any]
) -> None:
    file = tmp_path / "report.html"
    assert geocrawl("report", *more, "--db", str(crawled), "--out", str(file)).code == 0
    with page_of(browser, **look) as (page, _):
        page.goto(file.as_uri())
        broken = page.locator("th, td:not(:has(a)), p, h2").evaluate_all(
            """all => all.flatMap(cell => {
                const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
                return [...(text?.data ?? '').matchAll(/\\w+/g)].filter(word => {
                    const range = document.createRange();
                    range.setStart(text, word.index);
                    range.setEnd(text, word.index + word[0].length);
                    return range.getClientRects().length > 1;
                }).map(word => word[0]);
            })"""
        )
        assert broken == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.set_viewport_size({"width": 680, "height": 960})  # A4 without its margins
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.querySelector('tbody tr')).display") == "table-row"


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_menu_and_heads_of_tables_are_whole_on_a_phone(browser: Any, address: str, locale: str) -> None:
    with page_of(browser, **PHONE, locale=locale) as (page, said):
        for path in ("/operations", "/api"):
            page.goto(f"{address}{path}")
            assert page.evaluate("(menu => menu.scrollWidth <= menu.clientWidth)(document.querySelector('.top nav'))")
            lines = page.locator("thead th").evaluate_all(
                """all => all.map(head => [
                    head.textContent, head.scrollHeight / parseFloat(getComputedStyle(head).fontSize)])"""
            )
            assert len(lines) > 3 and [each for each in lines if each[1] > 4.5] == [], "two lines at most"
            assert [each for each in lines if locale == "zh-CN" and each[1] > 3] == [], "and of Chinese one"
            widths = page.locator("tbody tr > *:nth-child(2)").evaluate_all("all => all.map(each => each.offsetWidth)")
            assert min(widths) > 50, path
        assert said == []


def test_labels_of_charts_can_be_read_on_a_phone(browser: Any, address: str) -> None:
    with page_of(browser, **PHONE) as (page, said):
        for path in ("/statistics", "/operations"):
            page.goto(f"{address}{path}")
            labels = page.locator("svg.bars text, svg.curve text").evaluate_all(
                """all => all.map(text => {
                    const drawn = text.ownerSVGElement;
                    const scale = drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width;
                    const card = text.closest('.card').getBoundingClientRect(), box = text.getBoundingClientRect();
                    return [text.textContent, parseFloat(getComputedStyle(text).fontSize) * scale,
                            box.left >= card.left && box.right <= card.right];
                })"""
            )
            assert len(labels) > 8
            assert [each for each in labels if each[1] < 8 or not each[2]] == [], path
        assert said == []
