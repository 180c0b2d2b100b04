"""The pages: what they show, in which language, and how clients are told that something is wrong."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import sqlite3
import time
import tomllib
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
from lxml import html
from starlette.testclient import TestClient

from geocrawl.export.mending import deviations, explain
from geocrawl.model import Kind
from geocrawl.query.language import read_query
from geocrawl.web.pages import provider
from geocrawl.web.texts import sentences, texts
from tests.support.places import ROOT
from tests.support.world import World
from tests.web.conftest import Serve

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
ITEMS = "/collections/services/items"
PAGES = ["/", ITEMS, f"{ITEMS}?q=water", f"{ITEMS}/1", f"{ITEMS}/5", "/operations", "/statistics", "/api", "/providers"]
PAGES += ["/providers?name=Norvale+Mapping+Office"]


def number_of(client: TestClient, title: str) -> int:
    """Return the number of the WMS with this title."""
    found = client.get(ITEMS, params={"q": f'"{title}"', "kind": "wms"}).json()["features"]
    return next(int(each["id"]) for each in found if each["properties"]["title"] == title)


def test_a_service_has_as_many_layers_on_its_page_as_in_the_results(client: TestClient) -> None:
    number = number_of(client, "Norvale base map")
    page = client.get(f"{ITEMS}/{number}", headers=HTML).text
    [count] = re.findall(r'id="layers-title">Layers <span class="count">(\d+)<', page)
    found = client.get(ITEMS, params={"q": '"Norvale base map" kind:wms'}, headers=HTML).text
    assert f"{count} layers" in found


def test_health_over_time_is_shown_once_probes_tell_something(catalogue: Path, serve: Serve) -> None:
    now = time.time()
    early = serve(catalogue).get(f"{ITEMS}/1", headers=HTML).text
    assert "Too early for figures" in early and 'class="strip"' not in early
    with sqlite3.connect(catalogue) as database:
        [endpoint] = database.execute("SELECT best_id FROM service WHERE id = 1").fetchone()
        copied = (
            "INSERT INTO probe (endpoint_id, at, status, reason, detail, content_type, first_bytes, elapsed_ms,"
            " requests, deviations) SELECT endpoint_id, ?, ?, reason, detail, content_type, first_bytes, ?,"
            " requests, deviations FROM probe WHERE endpoint_id = ? ORDER BY id LIMIT 1"
        )
        database.executemany(
            copied,
            [
                (now - day * 86_400, "invalid" if day == 9 else "valid", 90_000.0 + day, endpoint)
                for day in range(1, 60)
            ],
        )
    page = serve(catalogue).get(f"{ITEMS}/1", headers=HTML).text
    strips = re.findall(r'<svg class="strip".*?</svg>', page, re.DOTALL)
    assert [strip.count("<rect") for strip in strips] == [30, 73]
    assert strips[0].count("fill poor") == 1 and strips[0].count("fill good") == 29
    assert "fill none" in strips[1] and "90,059 ms" in page
    assert "Too early for figures" not in page


def test_the_page_of_a_service_shows_its_downtimes_in_both_languages(catalogue: Path, serve: Serve) -> None:
    with sqlite3.connect(catalogue) as database:
        columns = "service_id, host, starts_at, ends_at, weekly, zone, is_acknowledged, note, created_at"
        database.executemany(
            f"INSERT INTO downtime ({columns}) VALUES (1, '', 0, NULL, ?, 'UTC', ?, ?, 0)",
            [("sun 02:00-04:00", 0, "<backup>"), ("", 1, "ticket 212")],
        )
    client = serve(catalogue)
    english, chinese = (client.get(f"{ITEMS}/1?lang={each}", headers=HTML).text for each in ("en", "zh"))
    assert "Planned downtime" in english and "sun 02:00-04:00 UTC" in english and "(&lt;backup&gt;)" in english
    assert "until it is well again (ticket 212)" in english
    assert "计划停机" in chinese and "直到恢复正常 (ticket 212)" in chinese


def test_the_operations_page_says_why_a_run_ended(client: TestClient) -> None:
    assert (
        "<td>only failed addresses were left, to be tried again later</td>"
        in client.get("/operations", headers=HTML).text
    )


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_is_whole_in_both_languages(client: TestClient, path: str, language: str) -> None:
    answer = client.get(path, headers={**HTML, "Accept-Language": language})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert f'<html lang="{language}"' in answer.text and answer.text.rstrip().endswith("</html>")
    unnamed = [name for name in re.findall(r">\s*([a-z]+(?:-[a-z]+)+)\s*<", answer.text) if name in texts("en")]
    assert unnamed == [], "names of texts are shown instead of the texts"


def test_chinese_has_every_text_and_the_same_values() -> None:
    english, chinese = texts("en"), texts("zh")
    assert set(chinese) == set(english)
    values = re.compile(r"\{(\w+)")
    differing = {name for name in english if set(values.findall(english[name])) != set(values.findall(chinese[name]))}
    assert differing == set()
    same = {name for name in english if english[name] == chinese[name]}
    assert same <= {
        *("use-openlayers", "use-leaflet", "use-curl", "take-csv", "take-geojson", "take-gpkg"),
        *("quality-https", "quality-cors"),
    }


def test_every_signal_has_a_name_for_people() -> None:
    documented = (ROOT / "docs" / "finding.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \|", documented, re.MULTILINE)
    signals = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}
    assert "csw-record" in signals and {f"signal-{name}" for name in signals} <= set(texts("en"))


UNREADABLE = (
    *("q=health:poorly", "kind=xyz", "crs=four", "alive=soon", "bbox=1,2", "country=Atlantis", "q=sort:size"),
    *(f"q={'word+' * 200}", f"q={'x' * 5000}"),
)


def lines(client: TestClient, path: str, chosen: str, language: str) -> list[str]:
    """Return the texts of some elements of a page, chosen by XPath."""
    page: Any = html.document_fromstring(client.get(path, headers={**HTML, "Accept-Language": language}).text)
    return [part.strip() for each in page.xpath(chosen) for part in each.text_content().split(" · ")]


@pytest.mark.parametrize(
    ("path", "chosen"),
    [
        (f"{ITEMS}?q=water+maps+wms", "//p[@class='read-as']"),
        (f"{ITEMS}?q=norvale+-cadastre+kind:wms,wfs+country:CH+crs:EPSG:4326", "//p[@class='read-as']"),
        (f"{ITEMS}?q=level:answers+alive:30d+new:7d+alive:true+bbox:5,47,15,55", "//p[@class='read-as']"),
        ("/layers?q=rivers", "//p[@class='read-as']"),
        *((f"{ITEMS}?{query}", "//p[@class='unreadable']") for query in UNREADABLE),
        ("/operations", "//table[.//th[text()='Sub-queue by relevance' or text()='子队列（按相关度）']]//td[2]"),
        ("/api", "//td[2]"),
        ("/providers?name=Norvale+Mapping+Office", "//section[@aria-labelledby='mend-title']//h3/text()/.."),
        ("/providers?name=Norvale+Mapping+Office", "//section[@aria-labelledby='mend-title']//div/p[1]"),
    ],
)
def test_what_other_rooms_say_is_chinese_on_chinese_pages(client: TestClient, path: str, chosen: str) -> None:
    english, chinese = lines(client, path, chosen, "en"), lines(client, path, chosen, "zh")
    assert english and len(english) == len(chinese)
    assert set(english) & set(chinese) == set()


def test_sentences_keep_their_values_in_chinese() -> None:
    for template, translated in sentences("zh").items():
        assert set(re.findall(r"\{\w+", template)) == set(re.findall(r"\{\w+", translated))
    advice = tomllib.loads((ROOT / "geocrawl" / "data" / "mending.toml").read_text("utf-8"))
    told = {text for each in advice["findings"].values() for name, text in each.items() if name != "standard"}
    assert told <= set(sentences("zh")), "what report cards tell of dead services"


def test_an_answer_of_the_last_day_is_one_of_one_day(client: TestClient) -> None:
    assert "1 day" in lines(client, f"{ITEMS}?alive=1d", "//nav[@class='facets']//span[@class='name']", "en")


def test_a_service_without_reference_systems_has_no_such_heading(client: TestClient) -> None:
    found = {each["properties"]["type"]: each for each in client.get(ITEMS, params={"limit": 100}).json()["features"]}
    pages = [client.get(f"{ITEMS}/{found[kind]['id']}", headers=HTML).text for kind in ("wms", "csw")]
    assert ["Reference systems</h2>" in each for each in pages] == [True, False]


def test_the_language_is_that_of_the_address_before_that_of_the_browser(client: TestClient) -> None:
    answer = client.get(f"{ITEMS}?lang=zh", headers={**HTML, "Accept-Language": "en"})
    assert "搜索" in answer.text and answer.headers["content-language"] == "zh"
    assert f"{ITEMS}?lang=zh&amp;kind=wms" in answer.text, "links keep the language"


def test_the_first_page_shows_this_catalogue_and_every_example_finds_something(client: TestClient) -> None:
    page = client.get("/", headers=HTML).text
    examples = re.findall(r'q=([^"&]+)">', page.partition('class="examples"')[2].partition("</p>")[0])
    *topics, kind, country = map(unquote_plus, examples)
    assert len(topics) == 3 and "water" in topics and kind.startswith("kind:") and country.startswith("country:")
    for example in map(unquote_plus, examples):
        found = client.get(ITEMS, params={"q": example}).json()
        assert found["numberMatched"] > 0 and "geocrawl:didYouMean" not in found, example
    assert ">China</a>" in page, "countries by name"
    assert "Newest services" in page


def test_the_line_that_watches_a_search_means_the_search(client: TestClient) -> None:
    names = ["Norvale Mapping Office", "Roads, Rivers & 'Sons'", 'The "Old" Survey']
    page = client.get(ITEMS, params={"provider": names, "kind": ["wms", "wfs"], "q": "-peat"}, headers=HTML).text
    (line,) = re.findall(r'id="watch"[^>]*><code>(.+?)</code>', page)
    query = read_query(shlex.split(unescape(line))[3])
    assert query.filters.providers == (*names[:2], "The Old Survey")
    assert query.filters.kinds == (Kind.WMS, Kind.WFS) and [term.text for term in query.excluded] == ["peat"]


def test_the_first_page_maps_the_services_and_each_square_of_it_finds_them(client: TestClient) -> None:
    page = client.get("/", headers=HTML).text
    squares = re.findall(r'bbox=([^"&]+)" tabindex="-1"><rect [^>]*><title>(\d+)<', page)
    assert squares
    for box, count in squares:
        found = client.get(ITEMS, params={"bbox": unquote_plus(box)}).json()
        assert found["numberMatched"] >= int(count), box
    providers = re.findall(r'<a href="(/providers\?name=[^"]+)">[^<]*</a> <span class="count">(\d+)<', page)
    assert providers
    for address, count in providers:
        assert len(client.get(f"{unescape(address)}&f=json").json()["services"]) == int(count), address


def test_twins_of_a_search_stand_on_their_pages_in_records_and_in_the_view(client: TestClient, crawled: Path) -> None:
    found = client.get(ITEMS, params={"limit": 100}).json()["features"]
    with closing(sqlite3.connect(crawled)) as file:
        view = {str(number): json.loads(twins) for number, twins in file.execute("SELECT id, twins FROM v_services")}
    assert any(view.values())
    for each in found:
        numbers = [str(number) for number in view[each["id"]]]
        of_search = [link["href"] for link in each["links"] if link.get("title", "").startswith("the same content")]
        record = client.get(f"{ITEMS}/{each['id']}").json()
        of_record = [link["href"] for link in record["links"] if link.get("title", "").startswith("the same content")]
        page = client.get(f"{ITEMS}/{each['id']}", headers=HTML).text
        of_page = re.findall(rf'{ITEMS}/(\d+)">', page.partition('class="twins"')[2].partition("</p>")[0])
        assert {href.rpartition("/")[2] for href in of_search} == set(numbers)
        assert [href.rpartition("/")[2] for href in of_record] == of_page == numbers


def test_every_page_counts_the_same_services(client: TestClient) -> None:
    every = client.get(ITEMS).json()["numberMatched"]
    home, search, statistics = (client.get(path, headers=HTML).text for path in ("/", ITEMS, "/statistics"))
    assert f"{every} services with" in home and f"{every} services found" in search
    for name in ("kind", "health"):
        counts = re.findall(rf'\?{name}=(\w+)"><span.*?class="count">(\d+)<', home)
        assert sum(int(count) for _, count in counts) == every, name
        for value, count in counts:
            assert client.get(ITEMS, params={name: value}).json()["numberMatched"] == int(count), value
    table = re.findall(r'<tr><td><span class="kind[^>]*>([\w -]+)</span></td><td class="number">(\d+)<', statistics)
    assert sum(int(count) for _, count in table) == every


def test_one_probe_gives_no_percentage_anywhere(client: TestClient) -> None:
    assert client.get(f"{ITEMS}/1/health").json()["addresses"][0]["probes"] == 1
    for path in (ITEMS, f"{ITEMS}/1", f"{ITEMS}/5", "/statistics", f"{ITEMS}/1/badge.svg"):
        page = client.get(path, headers=HTML).text
        assert (
            not re.search(r"\d ?%(?![0-9A-F]{2})", page)
            and ">p50" not in page
            and 'class="curve"' not in page.partition(">Survival<")[2].partition("</section")[0]
        ), path
    assert "observed since" in client.get(f"{ITEMS}/1", headers=HTML).text
    assert "too short a time" in client.get("/statistics", headers=HTML).text


def test_a_search_shows_what_is_found_with_filters(client: TestClient) -> None:
    page = client.get(ITEMS, params={"q": "glacier", "kind": "wms"}, headers=HTML).text
    assert "Glacier inventory" in page and "Water quality" not in page
    assert "/thumbnail" in page and "h-alive" in page
    assert 'class="is-chosen"' in page, "the chosen kind is marked"


def test_a_part_of_the_page_is_sent_to_a_page_that_is_shown(client: TestClient) -> None:
    part = client.get(ITEMS, params={"q": "glacier"}, headers={**HTML, "HX-Request": "true"}).text
    assert part.startswith('<div id="found"') and "<html" not in part
    whole = client.get(ITEMS, params={"q": "glacier"}, headers=HTML).text
    assert "<html" in whole, "the two are kept apart"


@pytest.mark.parametrize(
    "query", ["kind:wmz rivers", "bbox:1,2,3 rivers", "rivers country:Atlantis", "level:high rivers"]
)
def test_a_query_that_cannot_be_read_stays_in_its_box_with_what_is_wrong(client: TestClient, query: str) -> None:
    for headers, whole in ((HTML, True), ({**HTML, "HX-Request": "true"}, False)):
        answer = client.get(ITEMS, params={"q": query, "country": "DE"}, headers=headers)
        assert answer.status_code == 400
        assert ('role="search"' in answer.text and f'value="{query}"' in answer.text) == whole
        [problem] = re.findall(r'role="alert">([^<]*)', answer.text)
        assert "expected" in problem and "&#39;: " not in problem and "geocrawl" not in problem
        assert 'class="chip"' in answer.text, "the conditions chosen beside it can be removed"


def test_what_others_append_to_the_address_of_a_page_is_passed_over(client: TestClient) -> None:
    appended = {"utm_source": "mail", "fbclid": "x"}
    for path in PAGES:
        page, _, query = path.partition("?")
        answer = client.get(page, params={**appended, **({"q": "water"} if query else {})}, headers=HTML)
        assert answer.status_code == 200, path
        assert 'rel="nofollow"' not in answer.text or "utm_source" not in answer.text.split("<main")[1]
    assert client.get(ITEMS, params=appended).status_code == 400, "programs are told of what has no meaning"


def test_nothing_found_is_said_with_a_way_out(client: TestClient) -> None:
    page = client.get(ITEMS, params={"q": "xyzzyqwert", "kind": "wfs"}, headers=HTML).text
    assert "No service matches" in page and "Remove all filters" in page


def test_an_empty_catalogue_is_not_called_a_search_without_results(serve: Serve, tmp_path: Path) -> None:
    World(tmp_path / "empty.db").database.close()
    empty = serve(tmp_path / "empty.db").get(ITEMS, headers=HTML).text
    assert "The catalogue holds no service yet." in empty and "Fewer words" not in empty


def test_a_service_shows_layers_use_and_evidence(client: TestClient) -> None:
    number = number_of(client, "Glacier inventory")
    page = client.get(f"{ITEMS}/{number}", headers=HTML).text
    assert "WebMapService(" in page and "L.tileLayer.wms(" in page and "SERVICE=WMS&amp;REQUEST=GetCapabilities" in page
    assert "data-preview=" in page and "Where it was found" in page and "Content checks" in page
    assert f'rel="canonical" href="http://localhost{ITEMS}/{number}"' in page


def test_layers_are_filtered_on_the_server(client: TestClient) -> None:
    number = number_of(client, "青山省水系地图服务")
    part = client.get(f"{ITEMS}/{number}/layers", params={"layers": "湖泊"}, headers=HTML).text
    assert "湖泊" in part and "水库" not in part and "1 layer found" in part
    assert "青山省水系地图服务" in part, "the group above stays, so that the place in the tree is seen"


def test_filters_of_a_search_for_layers_count_layers(client: TestClient) -> None:
    page = client.get("/layers?q=rivers", headers=HTML).text
    [(link, count)] = re.findall(r'href="([^"]*kind=wfs[^"]*)".*?class="count">(\d+)<', page)
    assert client.get(unescape(link), headers={"Accept": "application/json"}).json()["numberMatched"] == int(count)
    chosen = client.get(unescape(link), headers=HTML).text
    assert f'class="count">{count}<' in chosen and "kind=wfs%2Cwms" in chosen, "a second kind may be added"
    assert "crs=" not in chosen, "a layer need not have all reference systems of its service"


def test_a_picture_without_a_box_is_of_the_layers_extent(client: TestClient) -> None:
    number = number_of(client, "Glacier inventory")
    pictures = {
        client.get(f"{ITEMS}/{number}/preview", params={"layer": "1", "width": "144", "height": "144"} | box).content
        for box in ({}, {"bbox": "7.2,45.85,9.4,48.05"}, {"bbox": "0,0,2,2"})
    }
    assert len(pictures) == 2 and all(picture[:4] == b"\x89PNG" for picture in pictures)


def test_a_box_that_cannot_be_read_is_offered_for_nothing(client: TestClient) -> None:
    page = client.get(f"{ITEMS}?q=water&bbox=1,2", headers=HTML).text
    assert "Place: 1,2" in page and "within=" not in page


def test_deviations_are_explained_in_words() -> None:
    known = deviations()
    assert len(known) > 60
    assert known["bare-ampersand"].meaning == "& that begins no reference"
    for code, each in known.items():
        assert each.meaning and each.done and each.standard not in ("", "the same") and each.mend, code


def test_a_provider_has_a_card_that_says_what_to_mend(client: TestClient) -> None:
    listed = client.get("/providers", headers=HTML).text
    assert "/providers?name=Norvale+Mapping+Office" in listed
    page = client.get("/providers", params={"name": "Norvale Mapping Office"}, headers=HTML).text
    assert explain("lacks-cors").mend in unescape(page) and "Standard: WHATWG Fetch" in page
    card = client.get("/providers", params={"name": "Norvale Mapping Office"}).json()
    assert card["working"] == len(card["services"]) > 5 and card["availability"] is None
    assert {"code", "meaning", "standard", "mend", "services"} == set(card["findings"][0])
    assert client.get("/providers", params={"name": "Nobody"}).status_code == 404


# --------------------------------------------------------------------------- kept answers


def test_an_answer_is_not_sent_twice(client: TestClient) -> None:
    first = client.get(ITEMS, headers=HTML)
    again = client.get(ITEMS, headers={**HTML, "If-None-Match": first.headers["etag"]})
    assert again.status_code == 304 and again.content == b"" and again.headers["etag"] == first.headers["etag"]
    other = client.get(f"{ITEMS}?q=water", headers={**HTML, "If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


def test_answers_are_packed_for_those_who_take_that(client: TestClient) -> None:
    with client.stream("GET", ITEMS, headers={**HTML, "Accept-Encoding": "gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
    plain = client.get(ITEMS, headers={**HTML, "Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers and gzip.decompress(packed) == plain.content


def test_shipped_files_are_kept_by_clients(client: TestClient) -> None:
    for name in ("map.js", "htmx.js", "page.js", "page.css", "world.json", "icon.svg"):
        answer = client.get(f"/static/{name}")
        assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]
    assert client.get("/static/../site.py").status_code == 404
    assert client.get("/static/none.js").json()["status"] == 404


# --------------------------------------------------------------------------- behind a proxy


def test_links_are_those_of_the_public_address(serve: Serve, crawled: Path) -> None:
    client = serve(crawled, public_url="https://maps.example.org/catalogue/")
    page = client.get(ITEMS, headers=HTML).text
    own = re.findall(r'(?:href|src|action)="(/[^"]*)"', page)
    assert own and all(address.startswith("/catalogue/") for address in own)
    record = client.get(f"{ITEMS}/1").json()
    assert record["links"][0]["href"].startswith("https://maps.example.org/catalogue/collections/services/items/1")


def _listed_by_json(client: TestClient) -> list[str]:
    """Return the names of all providers, page by page."""
    address, found = "/providers?f=json&offset=0", list[str]()
    while address:
        some = client.get(address).json()
        found += [each["provider"] for each in some["providers"]]
        address = next((each["href"] for each in some["links"] if each["rel"] == "next"), "")
        assert some["numberReturned"] == len(some["providers"]) <= 2
    assert some["numberMatched"] == len(found)
    return found


def test_every_provider_and_service_of_a_card_is_reached_and_the_cut_says_of_how_many(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = [each["provider"] for each in client.get("/providers?f=json").json()["providers"]]
    monkeypatch.setattr(provider, "_MOST_PROVIDERS", 2)
    monkeypatch.setattr(provider, "_MOST_SERVICES", 1)
    address, found = "/providers", list[str]()
    while address:
        tree: Any = html.fromstring(client.get(address, headers=HTML).text)
        found += tree.xpath("//ul[contains(@class, 'counts')]/li/a/text()")
        assert f"2 of {len(everything)}" in tree.text_content() or len(everything) - len(found) == 0
        (address,) = tree.xpath("//a[@rel='next']/@href") or [""]
    assert found == everything and len(everything) > 4
    assert _listed_by_json(client) == everything
    card = client.get("/providers?name=Norvale+Mapping+Office", headers=HTML).text
    (all_of_them,) = re.findall(r'1 of (\d+): <a href="[^"]*provider=Norvale', card)
    assert int(all_of_them) > 1
    assert client.get("/providers?offset=99999999999", headers=HTML).status_code == 200
