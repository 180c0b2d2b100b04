"""`geocrawl probe` beside a catalogue: politeness is shared, nothing else; and a catalogue that cannot be used is no
obstacle."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app.probe import ProbeLine, run_probe
from geocrawl.demo import DemoWeb
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store.database.database import Database, open_readonly
from geocrawl.store.upkeep.forget import forget
from tests.attacks.access_log import Reply, gaps_s, most_at_once
from tests.attacks.politeness import PAGES, PoliteWeb
from tests.support.crawls import url
from tests.support.loopback import running
from tests.support.parts import ROOT_USER, lack
from tests.support.processes import Started, clean_environment, geocrawl

WMS = "http://gis.uni-norvale.example/glacier/wms?SERVICE=WMS&REQUEST=GetCapabilities"
HOST = "gis.uni-norvale.example"
DELAY_S = 0.3
CLOCKS_S = 0.02
"""The log's clock is read when a request is read, a little after it was sent."""


class Unhurried(PoliteWeb):
    """Hosts whose pages take two seconds each until the probe has come, however long its start takes."""

    is_probed = False

    def reply(self, host: str, path: str) -> Reply:
        self.is_probed |= path.startswith("/wms")
        late = path.startswith("/page") and not self.is_probed
        return replace(super().reply(host, path), after_s=2.0 if late else 0.0)


@pytest.fixture
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "c.db"
    Database.open(path, create=True, clock=SystemClock()).close()
    return path


def probe(web: DemoWeb, catalog: Path) -> tuple[ProbeLine, list[str]]:
    """What the service's address proved to be, and what was said."""
    lines: list[ProbeLine] = []
    said: list[str] = []
    settings = Settings(proxy=web.proxy_url, delay_s=0.0, maps=False, contact="test@localhost")
    run_probe(
        settings, [url(WMS)], database=None, list_file=None, emit=lines.append, share_with=catalog, say=said.append
    )
    return lines[0], said


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that stands in the tables."""
    with open_readonly(path) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_a_crawl_and_a_probe_beside_it_ask_each_host_in_turn_and_keep_its_delay(
    tmp_path: Path, catalogue: Path
) -> None:
    hosts = [f"plain-{n}.example{n}.org" for n in range(2)]
    addresses = tmp_path / "list.txt"
    addresses.write_text("".join(f"http://{host}/wms{n}?SERVICE=WMS\n" for n in range(4) for host in hosts))
    with running(Unhurried()) as web:
        common = "--db", str(catalogue), "--proxy", f"http://127.0.0.1:{web.server_port}", "--delay", f"{DELAY_S}s"
        env = clean_environment(tmp_path)
        seeds = [f"http://{host}/" for host in hosts]
        crawl = Started(geocrawl("crawl", *seeds, *common, "--strategy", "bfs", "--quiet", "--no-maps"), env=env)
        while not any(access.path.startswith("/page") for access in web.log):
            assert crawl.running()
            time.sleep(0.05)
        probe = Started(geocrawl("probe", "--file", str(addresses), "--json", *common), env=env)
        asked, crawled = probe.wait(limit_s=300), crawl.wait(limit_s=300)
        log = list(web.log)
    assert (len(asked.stdout.splitlines()), asked.stderr) == (8, "") and crawled.exit_code in (0, 1)
    probes = [access.begun for access in log if access.path.startswith("/wms")]
    pages = [access.begun for access in log if access.path.startswith("/page")]
    assert len(probes) == 8 and len(pages) == 2 * PAGES
    assert min(pages) < min(probes) < max(pages), "they were at work at the same time"
    assert [access.path for access in log].count("/robots.txt") == len(hosts), "robots.txt is shared"
    assert most_at_once(log) == 1
    assert min(gaps_s(log, "plain")) >= DELAY_S - CLOCKS_S


def test_nothing_but_politeness_is_written(web: DemoWeb, catalogue: Path) -> None:
    before = rows(catalogue)
    line, said = probe(web, catalogue)
    after = rows(catalogue)
    assert (line.status, said) == ("valid", [])
    assert {name for name in after if after[name] != before[name]} == {"host", "site", "robots", "meta"}
    (beat,) = set(after["meta"]) - set(before["meta"])
    assert "worker:" in str(beat[0]) and "ended" in str(beat[1])
    assert len(after["host"]) == 1 and len(after["robots"]) == 1


def test_a_host_that_is_left_alone_on_request_is_not_asked(web: DemoWeb, catalogue: Path) -> None:
    with closing(Database.open(catalogue, create=False, clock=SystemClock())) as database:
        forget(database, HOST, "they asked", 0.0)
    line, _ = probe(web, catalogue)
    assert (line.status, line.reason) == ("refused", "forgotten")
    assert web.requests == [] and rows(catalogue)["host"] == []


def test_a_host_that_rests_is_not_asked_and_that_is_said(web: DemoWeb, catalogue: Path) -> None:
    probe(web, catalogue)
    asked = len(web.requests)
    change(catalogue, f"UPDATE host SET next_at = {time.time() + 500}")
    line, said = probe(web, catalogue)
    assert (line.status, line.reason) == ("refused", "resting") and HOST in said[0]
    assert len(web.requests) == asked


@pytest.mark.parametrize("fault", ["locked", "old", "foreign", "text", "missing"])
def test_a_catalogue_that_cannot_be_used_stops_no_probe(
    web: DemoWeb, catalogue: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = None
    if fault == "locked":
        monkeypatch.setattr("geocrawl.store.database.connection.BUSY_S", 0.2)
        holder = sqlite3.connect(catalogue)
        holder.execute("BEGIN IMMEDIATE")
    elif fault == "old":
        change(catalogue, "UPDATE alembic_version SET version_num = '0028'")
    elif fault == "foreign":
        change(catalogue, "DROP TABLE alembic_version")
    elif fault == "text":
        catalogue.write_text("no database at all")
    else:
        catalogue.unlink()
    before = catalogue.read_bytes() if catalogue.exists() else b""
    line, said = probe(web, catalogue)
    if holder is not None:
        holder.close()
    assert line.status == "valid"
    assert len(said) == (fault != "missing") and all(str(catalogue) in text for text in said)
    assert catalogue.exists() == (fault != "missing")
    assert not before or catalogue.read_bytes() == before


@pytest.mark.machine
def test_a_catalogue_that_may_only_be_read_stops_no_probe(web: DemoWeb, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(disk)], check=False).returncode:
        lack(ROOT_USER)
    try:
        Database.open(disk / "c.db", create=True, clock=SystemClock()).close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        line, said = probe(web, disk / "c.db")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert line.status == "valid"
    assert len(said) == 1 and "are not shared" in said[0]
