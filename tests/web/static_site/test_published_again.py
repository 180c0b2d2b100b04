"""A site published again: what a fresh publish would write, but only what changed is made again."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geocrawl.fetch.clock import SystemClock
from geocrawl.model.search import Selection
from geocrawl.store import Store
from geocrawl.store.upkeep.migrate import migrate
from geocrawl.web.static_site import pages
from geocrawl.web.static_site.folder import MANIFEST
from tests.support.commands import geocrawl
from tests.support.made_catalogue import make_catalogue
from tests.support.postgres import Server
from tests.support.samples import sampled
from tests.support.world import ManualClock
from tests.web.static_site.sites import BASE, faults_of, files_of, published

SERVICES = 14


class Killed(BaseException):
    """The end of a process."""


@dataclass
class Site:
    """A catalogue, the site that is published of it again and again, and how."""

    catalogue: Path
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    made: list[int] = field(default_factory=list)
    """Services whose page was made."""
    selection: Selection = field(default_factory=Selection)
    options: dict[str, str] = field(default_factory=lambda: {"base_url": BASE})

    def write(self, statements: Iterable[str]) -> None:
        """Write to the catalogue."""
        with closing(sqlite3.connect(self.catalogue, isolation_level=None)) as writer:
            for statement in statements:
                writer.execute(statement)

    def publish(self) -> str:
        """Publish; return why every page was made again."""
        self.made.clear()
        return published(self.catalogue, self.folder, self.selection, **self.options).remade_because

    def is_as_fresh(self) -> bool:
        """Return whether the folder has the files of a publish to an empty one, and all that they lead to."""
        fresh = self.folder.with_name("fresh")
        shutil.rmtree(fresh, ignore_errors=True)
        published(self.catalogue, fresh, self.selection, **self.options)
        return files_of(self.folder) == files_of(fresh) and faults_of(self.folder) == []


def _indexed(catalogue: Path) -> None:
    """Add what the index of the search lacks, such as countries."""
    Store.open(catalogue, clock=ManualClock()).close()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a catalogue and its site; copy it before writing."""
    folder = tmp_path_factory.mktemp("first")
    make_catalogue(folder / "c.db", SERVICES)
    _indexed(folder / "c.db")
    with closing(sqlite3.connect(folder / "c.db", isolation_level=None)) as writer:
        writer.execute("INSERT INTO thumbnail VALUES (4, 1.0, x'89504e47')")
    published(folder / "c.db", folder / "site", base_url=BASE)
    return folder


@pytest.fixture
def site(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A copy of them."""
    found = Site(tmp_path / "again" / "c.db", tmp_path / "again" / "site", monkeypatch)
    shutil.copytree(first, found.folder.parent)
    make = pages.service_page

    def counted(look: Any, detail: Any) -> bytes:
        found.made.append(detail.service.id)
        return make(look, detail)

    monkeypatch.setattr(pages, "service_page", counted)
    return found


# --------------------------------------------------------------------------- kinds of change


def _copied(table: str, where: str, changes: str) -> tuple[str, ...]:
    """Return statements that add changed copies of rows."""
    return (
        f"CREATE TEMP TABLE copy AS SELECT * FROM {table} WHERE {where}",
        f"UPDATE copy SET {changes}",
        f"INSERT OR IGNORE INTO {table} SELECT * FROM copy",
        "DROP TABLE copy",
    )


IN_CATALOGUE: dict[str, tuple[str, ...]] = {
    "a title": ("UPDATE service SET title = title || ' renewed' WHERE id = 7",),
    "an abstract": ("UPDATE service SET abstract = 'Peat', keywords = '[\"moor\"]' WHERE id = 3",),
    "an answer": ("UPDATE service SET last_ok = last_ok + 86400 WHERE id = 2",),
    "an extent": ("UPDATE service SET west = 170, east = -170 WHERE id = 5",),
    "a provider": ("UPDATE service SET provider = 'Office 7', contact = '{\"email\": \"a@b.example\"}' WHERE id > 9",),
    "a country": ("UPDATE search_entry SET country = 'NO' WHERE service_id < 4",),
    "a layer's title": ("UPDATE layer SET title = title || ' of peat' WHERE service_id = 4 AND position = 2",),
    "a layer's name": ("UPDATE layer SET name = 'PeatLand' WHERE service_id = 4 AND position = 3",),
    "fewer layers": ("DELETE FROM layer WHERE service_id = 6 AND position > 1",),
    "reference systems": (
        "UPDATE layer SET crs = '[\"EPSG:25833\"]', parent = 0 WHERE service_id = 8 AND position = 1",
    ),
    "health": ("UPDATE endpoint SET health = 'down', status = 'invalid' WHERE id = 1",),
    "level and deviations": (
        'UPDATE endpoint SET level = \'answers\', deviations = \'[{"code": "no-crs", "detail": ""}]\' WHERE id = 11',
    ),
    "another address": _copied("endpoint", "id = 10", "id = 901, key = key || '/b', url = url || '/b'"),
    "a delivered tile": ("UPDATE proof SET url = url || '?a=1', zoom = 2",),
    "a page that names it": (
        "INSERT OR IGNORE INTO evidence (endpoint_id, signal, page, link, anchor, at) "
        "VALUES (6, 'query', 'http://a.example/', 'http://b.example/wms', '', 1.0)",
    ),
    "a picture": ("INSERT OR REPLACE INTO thumbnail VALUES (5, 1.0, x'89504e47')",),
    "another picture": ("INSERT OR REPLACE INTO thumbnail VALUES (4, 1.0, x'89504e48')",),
    "a picture less": ("DELETE FROM thumbnail WHERE endpoint_id = 4",),
    "news": (
        "INSERT OR IGNORE INTO change VALUES (1, 7, 7, 1.8e9, 'title', '', 'A', 'B')",
        "INSERT OR IGNORE INTO health_event VALUES (1, 3, 1.8e9, 'alive', 'down', 'timeout')",
    ),
    "a twin": ("INSERT OR IGNORE INTO same_service VALUES (1, 5, 'title', '', 1, 1.0)",),
    "one more in a new folder": (
        *_copied("service", "id = 7", "id = 1007, best_id = 1007, fingerprint = 'f1007'"),
        *_copied("endpoint", "id = 7", "id = 1007, service_id = 1007, key = key || '7', url = url || '7'"),
        *_copied("layer", "service_id = 7", "service_id = 1007"),
    ),
    "one less": (
        "UPDATE endpoint SET service_id = NULL WHERE service_id = 9",
        "DELETE FROM layer WHERE service_id = 9",
        "DELETE FROM service WHERE id = 9",
    ),
}


def _manifest(site: Site, text: str) -> None:
    (site.folder / MANIFEST).write_text(text)


def _edited(site: Site, name: str, *, is_cut: bool = False) -> None:
    """Change a byte of a file, so that its time tells it, or cut it, so that its size does."""
    path = site.folder / name
    if path.is_file():  # a former step may have chosen other services
        content, former = path.read_bytes(), path.stat()
        path.write_bytes(content[:100] if is_cut else content[:-2] + b"x" + content[-1:])
        if is_cut:
            os.utime(path, ns=(former.st_atime_ns, former.st_mtime_ns))


def _touched(site: Site) -> None:
    for each in site.folder.rglob("*"):
        os.utime(each)


def _chosen(site: Site, kind: str | None) -> None:
    site.selection = Selection(kind=kind)


def _killed(site: Site, files: int) -> None:
    """End a publish after so many files; the catalogue is as before it when the next one begins."""
    replace, left = Path.replace, [files]

    def replaced(self: Path, target: Path) -> Path:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return replace(self, target)

    site.write(["UPDATE service SET title = title || ' meanwhile', fees = fees || '!'"])
    with site.monkeypatch.context() as patched, suppress(Killed):
        patched.setattr(Path, "replace", replaced)
        site.publish()
    site.write(["UPDATE service SET title = replace(title, ' meanwhile', ''), fees = replace(fees, '!', '')"])


IN_FOLDER: dict[str, Callable[[Site], object]] = {
    "a page edited": partial(_edited, name="services/0/7.html"),
    "a record edited": partial(_edited, name="services/0/8.json"),
    "cards edited": partial(_edited, name="search/cards/0/0.js"),
    "a list edited": partial(_edited, name="services/0/catalog.json"),
    "an export edited": partial(_edited, name="services.csv"),
    "a page cut": partial(_edited, name="services/0/3.html", is_cut=True),
    "a page gone": lambda site: (site.folder / "services/0/1.html").unlink(missing_ok=True),
    "all pages gone": lambda site: shutil.rmtree(site.folder / "services"),
    "the search gone": lambda site: shutil.rmtree(site.folder / "search"),
    "copied without times": _touched,
    "the manifest gone": lambda site: (site.folder / MANIFEST).unlink(missing_ok=True),
    "the manifest cut": lambda site: os.truncate(site.folder / MANIFEST, 100),
    "the manifest of others": partial(_manifest, text="[]"),
    "a newer manifest": partial(_manifest, text='{"layout": 2, "madeBy": "", "seals": {}}'),
    "killed early": partial(_killed, files=3),
    "killed late": partial(_killed, files=25),
    "Chinese": lambda site: site.options.update(language="zh"),
    "a title": lambda site: site.options.update(title="Maps of Norvale"),
    "no address": lambda site: site.options.pop("base_url", None),
    "another address": lambda site: site.options.update(base_url="https://other.example"),
    "some services": partial(_chosen, kind="wms"),
    "all services": partial(_chosen, kind=None),
}
STEPS: dict[str, Callable[[Site], object]] = {
    **{f"catalogue: {name}": partial(Site.write, statements=each) for name, each in IN_CATALOGUE.items()},
    **{f"folder: {name}": step for name, step in IN_FOLDER.items()},
}


@pytest.mark.parametrize(("seed", "steps"), sampled([(0, 8), *((seed, len(STEPS)) for seed in range(1, 4))], (0, 8)))
def test_a_site_published_again_is_as_a_fresh_one(site: Site, seed: int, steps: int) -> None:
    done = random.Random(seed).sample(sorted(STEPS), steps)
    for number, name in enumerate(done, 1):
        STEPS[name](site)
        site.publish()
        assert site.is_as_fresh(), done[:number]


# --------------------------------------------------------------------------- what is made


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("catalogue: a title", [7]),
        ("catalogue: a layer's title", [4]),
        ("catalogue: another picture", [4]),
        ("catalogue: a page that names it", [6]),
        ("catalogue: one less", []),
        ("catalogue: news", []),
        ("folder: a page edited", [7]),
        ("folder: a page cut", [3]),
        ("folder: a list edited", []),
        ("folder: some services", []),
    ],
)
def test_only_pages_of_what_changed_are_made(site: Site, name: str, made: list[int]) -> None:
    assert (site.publish(), site.made) == ("", [])
    STEPS[name](site)
    assert (site.publish(), site.made) == ("", made)
    assert site.is_as_fresh()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("folder: the manifest cut", "damaged"),
        ("folder: the manifest of others", "damaged"),
        ("folder: a newer manifest", "another version"),
        ("folder: a title", "title, address or language"),
    ],
)
def test_all_pages_are_made_where_the_manifest_tells_nothing_and_a_person_is_told(
    site: Site, name: str, why: str
) -> None:
    STEPS[name](site)
    assert why in site.publish() and len(site.made) == SERVICES
    assert (site.publish(), site.made) == ("", [])


def test_another_program_makes_all_pages(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "program", lambda: "another")
    assert "or the program" in site.publish() and len(site.made) == SERVICES


def test_the_command_says_why_all_was_made(site: Site) -> None:
    _manifest(site, json.dumps({"layout": 1}))
    said = geocrawl("publish", "--db", str(site.catalogue), "--out", str(site.folder), "--base-url", BASE)
    assert said.code == 0 and "geocrawl-manifest.json is damaged" in said.err


# --------------------------------------------------------------------------- engines


def test_the_site_of_a_catalogue_on_postgresql_is_the_same(site: Site, postgres_server: Server, tmp_path: Path) -> None:
    for name in sorted(IN_CATALOGUE.keys() - {"a country"}):  # a copy finds out by itself
        site.write(IN_CATALOGUE[name])
    _indexed(site.catalogue)
    site.publish()
    url = postgres_server.new_database()
    migrate(str(site.catalogue), url, SystemClock(), lambda table, rows: None)
    published(url, tmp_path / "other", base_url=BASE)
    assert files_of(tmp_path / "other") == files_of(site.folder)
    assert published(url, site.folder, base_url=BASE).written == 0
    postgres_server.drop(url)
