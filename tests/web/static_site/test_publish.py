"""A published site: whole, relative, written again only where it differs, and never over what is a person's."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html

from geocrawl.errors import DatabaseFault, EnvironmentFault, UsageError
from geocrawl.model.catalogue import Box
from geocrawl.model.search import Selection
from geocrawl.web.static_site import pages, publish
from geocrawl.web.static_site.folder import MARK, SiteFolder, site_folder
from tests.daemon.test_faults import fill, small_disk
from tests.store.database.test_upgrade import old_file
from tests.support.commands import geocrawl
from tests.support.made_catalogue import make_catalogue
from tests.support.places import ROOT
from tests.web.conftest import Serve
from tests.web.static_site.sites import BASE, faults_of, files_of, index_of, part, published
from tests.web.test_hostile_text import HOSTILE, SECRET

SERVICES = 14


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of made services; copy it before writing."""
    path = tmp_path_factory.mktemp("made") / "c.db"
    make_catalogue(path, SERVICES)
    return path


@pytest.fixture(scope="module")
def first(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its site; copy it before writing."""
    site = tmp_path_factory.mktemp("site") / "site"
    published(made, site, base_url=BASE)
    return site


@pytest.fixture
def catalogue(made: Path, tmp_path: Path) -> Path:
    """A copy of the catalogue."""
    return Path(shutil.copy(made, tmp_path / "c.db"))


@pytest.fixture
def site(first: Path, tmp_path: Path) -> Path:
    """A copy of the site."""
    return Path(shutil.copytree(first, tmp_path / "site"))


def change(catalogue: Path, *statements: str) -> None:
    """Write to a catalogue."""
    with closing(sqlite3.connect(catalogue, isolation_level=None)) as writer:
        for statement in statements:
            writer.execute(statement)


def test_what_is_watched_has_a_page_of_its_state(catalogue: Path, tmp_path: Path) -> None:
    change(catalogue, "UPDATE endpoint SET every_s = 600 WHERE service_id = 3")
    published(catalogue, tmp_path / "watched")
    assert faults_of(tmp_path / "watched") == []
    (told,) = json.loads((tmp_path / "watched/status/status.json").read_text())
    assert (told["service"], told["everySeconds"]) == (3, 600.0)
    assert "10m" in (tmp_path / "watched/status/index.html").read_text()
    assert 'href="status/index.html"' in (tmp_path / "watched/index.html").read_text()


def test_every_link_and_every_part_of_the_search_leads_to_a_file(first: Path) -> None:
    assert faults_of(first) == []
    assert index_of(first)["services"] == SERVICES
    assert len(list(first.glob("services/0/*.html"))) == SERVICES


def test_lists_are_by_name_and_none_reaches_into_another(catalogue: Path, tmp_path: Path) -> None:
    change(catalogue, "UPDATE service SET title = substr('mobzKaXÄ省cPqdu', id, 1) || ' ' || title")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "_MOST_LISTED", 5)
        patch.setattr(publish, "_LEAST_LISTED", 2)
        patch.setattr(publish, "_BEGINS_LIST", 4)
        published(catalogue, tmp_path / "site")
    top: Any = html.fromstring((tmp_path / "site/services/index.html").read_bytes())
    names = list[str]()
    for each in top.xpath("//main//li/a"):
        page: Any = html.fromstring((tmp_path / "site/services" / each.get("href")).read_bytes())
        own = page.xpath("//main//li/a/text()")
        assert 2 <= len(own) <= 5 and f"{own[0]} – {own[-1]}" == each.text_content() == page.findtext(".//h1")
        names += own
    assert len(names) == SERVICES and names == sorted(names, key=str.casefold)
    assert faults_of(tmp_path / "site") == []


def test_the_first_page_with_all_that_it_loads_is_small(first: Path) -> None:
    tree: Any = html.fromstring((first / "index.html").read_bytes())
    loaded = set(tree.xpath("//@src | //link[not(contains(@rel, 'alternate'))]/@href | //image/@href"))
    shipped = sorted(name.partition("?")[0] for name in loaded if name.startswith("static/"))
    assert "static/page.css" in shipped and "static/land.svg" in shipped and "static/map.js" not in shipped
    sizes = {name: len(gzip.compress((first / name).read_bytes())) for name in ("index.html", *shipped)}
    assert sum(sizes.values()) < 200_000, sizes


def test_nothing_is_written_when_nothing_changed(made: Path, site: Path) -> None:
    former = {path: path.stat().st_mtime_ns for path in site.rglob("*") if path.is_file() and path.name != MARK}
    assert published(made, site, base_url=BASE).written == 0
    assert {path: path.stat().st_mtime_ns for path in former} == former


def test_only_what_shows_a_change_is_written(catalogue: Path, site: Path) -> None:
    former = files_of(site)
    change(catalogue, "UPDATE service SET title = 'Peatland of Norvale' WHERE id = 7")
    found = published(catalogue, site, base_url=BASE)
    changed = {name for name, content in files_of(site).items() if former.get(name) != content}
    assert found.written == len(changed)
    pages = {re.sub(r"from-\d+", "from-N", name) for name in changed if name.startswith("services/")}
    assert pages - {"services/index.html"} == {
        "services/0/7.html",
        "services/0/7.json",
        "services/from-N.html",
        "services/0/catalog.json",
    }
    assert {name for name in changed if "cards" in name} == {"search/cards/0/0.js"}
    assert faults_of(site) == []


def test_pages_of_services_that_are_gone_are_removed_and_files_of_a_person_stay(catalogue: Path, site: Path) -> None:
    (site / "CNAME").write_text("maps.example.org")
    (site / ".git").mkdir()
    (site / ".git" / "HEAD").write_text("ref: refs/heads/pages")
    change(
        catalogue,
        "UPDATE endpoint SET service_id = NULL WHERE service_id = 9",
        "DELETE FROM layer WHERE service_id = 9",
    )
    change(catalogue, "DELETE FROM service WHERE id = 9")
    found = published(catalogue, site, base_url=BASE)
    assert not list(site.glob("services/0/9.*")) and found.removed >= 2
    assert (site / "CNAME").is_file() and (site / ".git" / "HEAD").is_file()
    fresh = site.with_name("fresh")
    published(catalogue, fresh, base_url=BASE)
    assert {name: text for name, text in files_of(site).items() if name not in ("CNAME", ".git/HEAD")} == files_of(
        fresh
    )


def test_a_folder_that_is_no_site_is_left_alone(made: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="no site that geocrawl made"):
        published(made, mine)
    assert files_of(mine) == {"index.html": b"mine"}
    with pytest.raises(UsageError, match="is a file"):
        published(made, mine / "index.html")


def test_a_catalogue_of_an_older_schema_is_refused_before_a_file_is_written(tmp_path: Path, site: Path) -> None:
    former = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    for folder in (tmp_path / "new", site):
        with pytest.raises(DatabaseFault):
            published(old_file(tmp_path), folder)
    assert not (tmp_path / "new").exists()
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == former


def test_two_publishes_do_not_write_one_folder(made: Path, site: Path) -> None:
    with site_folder(site), pytest.raises(EnvironmentFault, match="another `geocrawl publish`"):
        published(made, site)


# --------------------------------------------------------------------------- ends in the middle


class Killed(BaseException):
    """The end of a process."""


def test_a_site_works_wherever_a_publish_ends(
    catalogue: Path, site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    change(
        catalogue,
        "UPDATE service SET title = 'Peatland of Norvale' WHERE id IN (3, 12)",
        "UPDATE endpoint SET service_id = NULL WHERE service_id = 9",
        "DELETE FROM layer WHERE service_id = 9",
        "DELETE FROM service WHERE id = 9",
    )
    replace, left = Path.replace, [1000]
    total = published(catalogue, Path(shutil.copytree(site, tmp_path / "whole")), base_url=BASE).written

    def replaced(self: Path, target: Path) -> Path:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replaced)
    for moment in (0, 2, 5, *range(total - 4, total)):
        left[0] = moment
        struck = Path(shutil.copytree(site, tmp_path / f"struck-{moment}"))
        with pytest.raises(Killed):
            published(catalogue, struck, base_url=BASE)
        assert faults_of(struck, is_amid=True) == [], f"after {moment} files"
    left[0] = 1000
    published(catalogue, struck, base_url=BASE)
    assert files_of(struck) == files_of(tmp_path / "whole"), "published again it is whole, with no part left"


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_a_site_works_after_its_publish_was_killed(seconds: float, tmp_path: Path) -> None:
    catalogue, site = tmp_path / "c.db", tmp_path / "site"
    make_catalogue(catalogue, 300)
    published(catalogue, site)
    first = site / "services/0/1.html"
    change(catalogue, "UPDATE service SET title = title || ' again', abstract = 'Peat ' || abstract")
    command = [sys.executable, "-m", "geocrawl", "publish", "--db", str(catalogue), "--out", str(site)]
    former = first.stat().st_mtime_ns
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and first.stat().st_mtime_ns == former:
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
    assert first.stat().st_mtime_ns != former and faults_of(site, is_amid=True) == []
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0
    assert faults_of(site) == [] and not list(site.rglob("*.part"))


def test_a_full_disk_is_told_and_the_former_site_works(made: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        site = disk / "site"
        published(made, site)
        former = files_of(site)
        fill(disk / "other")
        with pytest.raises(EnvironmentFault, match="still works: make room or allow writing, then publish again"):
            published(made, site, title="Maps of Norvale")
        assert faults_of(site, is_amid=True) == [] and not list(site.rglob("*.part"))
        (disk / "other").unlink()
        published(made, site)
        assert files_of(site) == former


# --------------------------------------------------------------------------- content


def test_pages_have_data_for_search_machines_and_records_for_programs(first: Path) -> None:
    page: Any = html.fromstring((first / "services/0/7.html").read_bytes())
    data = json.loads(page.xpath("//script[@type='application/ld+json']")[0].text)
    assert data["@type"] == "Dataset" and data["@id"] == f"{BASE}/services/0/7.html"
    assert page.xpath("//link[@rel='canonical']/@href") == [data["@id"]]
    record = json.loads((first / "services/0/7.json").read_bytes())
    assert record["type"] == "Feature" and record["properties"]["geocrawl:health"] == "alive"
    assert all((first / "services/0" / each["href"]).is_file() for each in record["links"] if "://" not in each["href"])
    named = [each["href"] for each in record["links"] if each["rel"] == "via"]
    assert named and set(named) <= set(page.xpath("//article//a/@href"))
    catalogue = json.loads((first / "catalog.json").read_bytes())
    children = [each["href"] for each in catalogue["links"] if each["rel"] == "child"]
    items = [
        each for name in children for each in json.loads((first / name).read_bytes())["links"] if each["rel"] == "item"
    ]
    assert len(items) == SERVICES == catalogue["numberMatched"]


def test_a_published_page_is_the_served_one_without_what_needs_a_server(serve: Serve, made: Path, first: Path) -> None:
    served: Any = html.fromstring(serve(made).get("/collections/services/items/7?f=html").content)
    page: Any = html.fromstring((first / "services/0/7.html").read_bytes())
    headings = [[each.text_content().strip() for each in read.xpath("//h1 | //h2")] for read in (served, page)]
    assert headings[1] == [each for each in headings[0] if not each.startswith(("Health over", "History", "Quality"))]
    for what in (
        "//dl[@class='about']",
        "//div[@class='snippets']",
        "//p[@class='facts'][1]",
        "//div[@id='layers']//code",
    ):
        texts = [" ".join(read.xpath(what)[0].text_content().split()) for read in (served, page)]
        assert texts[0] == texts[1]


def test_a_page_says_who_can_be_asked(catalogue: Path, tmp_path: Path) -> None:
    change(
        catalogue,
        """UPDATE service SET contact = '{"person": "Map desk", "email": "desk@maps.example"}' WHERE id = 7""",
    )
    published(catalogue, tmp_path / "site")
    page: Any = html.fromstring((tmp_path / "site/services/0/7.html").read_bytes())
    assert page.xpath("//dt[text()='Contact']/following-sibling::dd[1]/text()") == ["Map desk, desk@maps.example"]


def test_feeds_and_sitemaps_name_pages_at_the_sites_address(first: Path) -> None:
    names = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    index: Any = etree.parse(first / "sitemap.xml")
    assert index.xpath("//s:loc/text()", namespaces=names) == [f"{BASE}/sitemap-0.xml"]
    part_of_it: Any = etree.parse(first / "sitemap-0.xml")
    pages = part_of_it.xpath("//s:loc/text()", namespaces=names)
    assert len(pages) == SERVICES and all((first / each.removeprefix(f"{BASE}/")).is_file() for each in pages)
    feed, atom = json.loads((first / "feed.json").read_bytes()), etree.parse(first / "feed.atom").getroot()
    assert feed["home_page_url"] == f"{BASE}/" and feed["title"] == atom.findtext("{*}title")


def test_without_an_address_nothing_names_one(made: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    published(made, site)
    assert not list(site.glob("feed.*")) and not list(site.glob("sitemap*"))
    page: Any = html.fromstring((site / "services/0/7.html").read_bytes())
    assert "@id" not in json.loads(page.xpath("//script[@type='application/ld+json']")[0].text)
    assert page.xpath("//link[@rel='canonical']") == []


def test_a_site_may_be_chinese_and_of_some_services(made: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    found = published(made, site, Selection(kind="wfs"), title="要素服务", language="zh")
    assert 0 < found.services < SERVICES
    page: Any = html.fromstring((site / "index.html").read_bytes())
    assert page.get("lang") == "zh" and "要素服务" in page.findtext(".//title")
    assert faults_of(site) == []


def test_no_text_of_a_service_becomes_markup_and_no_key_leaves(catalogue: Path, tmp_path: Path) -> None:
    site, text = tmp_path / "site", " ".join(HOSTILE).encode("utf-8", "replace").decode()
    with closing(sqlite3.connect(catalogue, isolation_level=None)) as writer:
        writer.execute(
            "UPDATE service SET title = ?, abstract = ?, provider = ?, keywords = ?, online_resource = ?, fees = ?",
            (text, text, text, json.dumps([text]), f"javascript:{text}", text),
        )
        writer.execute("UPDATE layer SET title = ?, name = name || ?", (text, text))
        writer.execute("UPDATE endpoint SET url = url || ?, masked_url = url || ?", (f"?key={SECRET}", "?key=***"))
    published(catalogue, site, base_url=BASE)
    for name, content in files_of(site).items():
        assert SECRET.encode() not in content, name
        if name.endswith(".html"):
            page: Any = html.fromstring(content)
            assert page.xpath("//script[not(@src)][not(contains(@type, 'json'))] | //iframe | //@onerror") == [], name
            assert page.xpath("//a[starts-with(@href, 'javascript')]") == [], name
            for script in page.xpath("//script[contains(@type, 'json')]"):
                json.loads(script.text)
    assert part(site, "cards/0/0")["1"][0].startswith("</title>"), "the search writes it as text"


def test_the_command_says_what_it_did_and_what_is_wrong(made: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    said = geocrawl("publish", "--db", str(made), "--out", str(site), "--kind", "wms")
    assert said.code == 0 and "services published to" in said.out and "--base-url" in said.err
    again = geocrawl("publish", "--db", str(made), "--out", str(site), "--kind", "wms")
    assert ": 0 of " in again.out
    assert geocrawl("publish", "--db", str(made), "--out", str(tmp_path)).code == 2
    assert geocrawl("publish", "--db", str(made), "--out", str(site), "--base-url", "maps").code == 2
    assert geocrawl("publish", "--db", str(made), "--out", str(site), "--language", "xx").code == 2


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    site = SiteFolder(tmp_path)
    (tmp_path / "services").write_text("a file where a folder should be")
    with pytest.raises(EnvironmentFault, match="services"):
        site.write("services/1.html", b"")
    assert [each.name for each in tmp_path.iterdir()] == ["services"]


@pytest.mark.parametrize("box", [(7.2, 46.1, 9.4, 47.8), (-180, -90, -170, -80), (160, 70, 180, 90), (0, -40, 10, 50)])
def test_the_map_of_a_service_shows_its_surroundings(box: Box) -> None:
    x, y, width, height = map(float, pages._view_of(pages.extents_of(box)).split())
    west, south, east, north = box
    assert -180 <= x <= west and east <= x + width <= 180 and width == 2 * height < 360
    assert -90 <= y <= -north and -south <= y + height <= 90


@pytest.mark.parametrize("box", [None, (-180, -90, 180, 90), (170, -50, -170, -30)])
def test_the_map_of_a_service_without_a_place_of_its_own_shows_the_world(box: Box | None) -> None:
    assert pages._view_of(pages.extents_of(box)) == "-180 -90 360 180"
