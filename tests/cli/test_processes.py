"""`crawl --processes`: several processes keep the limits and promises of a crawl as one does, whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from geocrawl.app.processes import share_of
from geocrawl.demo import DemoWeb
from geocrawl.settings import Settings
from tests.support import forked, scale_web
from tests.support.helpers import LIMIT_S, team_crawl
from tests.support.invariants import check_invariants
from tests.support.processes import clean_environment
from tests.support.samples import sampled
from tests.support.scale_web import politeness

WEB = scale_web.Web(hosts=12, pages_a_host=12)
START = [scale_web.address(host, 0) for host in range(WEB.hosts)]
ORDINARY = ("--delay", "0", "--economy", "0", "--max-depth", "30", "--workers", "6")


@pytest.mark.parametrize(("most", "count"), [(200, 4), (1, 3), (0, 2), (7, 3), (5, 1)])
def test_processes_share_what_one_host_is_asked_for(most: int, count: int) -> None:
    """Content, scripts, pages in a browser, and addresses for services of other kinds."""
    bounds = ("map_requests_per_host", "siblings", "browser_pages_per_host", "max_scripts_per_host")
    of_all: dict[str, Any] = dict.fromkeys(bounds, most)
    settings = replace(Settings(processes=count, workers=count), **of_all)
    for name in bounds:
        shares = [getattr(share_of(settings, number), name) for number in range(count)]
        assert sum(shares) == most and max(shares) - min(shares) <= 1, name


def rows(home: Path, statement: str) -> list[Any]:
    with sqlite3.connect(home / "c.db") as database:
        found = database.execute(statement).fetchall()
    database.close()
    return found


def pages_visited(home: Path) -> int:
    """Pages that were settled; 0 as long as there is no database."""
    try:
        return int(rows(home, "SELECT count(*) FROM url WHERE state = 'visited' AND purpose = 'page'")[0][0])
    except sqlite3.OperationalError:
        return 0


def endpoints(home: Path) -> list[Any]:
    return sorted(rows(home, "SELECT url, kind, status, reason FROM endpoint"))


def test_the_catalogue_is_that_of_one_process_and_one_report_counts_what_all_did(tmp_path: Path) -> None:
    found, homes = [], [tmp_path / name for name in ("one", "three")]
    for home, processes in zip(homes, ("1", "3"), strict=True):
        home.mkdir()
        with (
            DemoWeb(latency_s=0.01) as web,
            team_crawl(home, *web.seeds, "--proxy", web.proxy_url, *ORDINARY, "--processes", processes) as crawl,
        ):
            crawl.helpers(int(processes) - 1)
            code, report, notes = crawl.end()
            asked = [request.url for request in web.requests if request.kind == "page"]
            assert (code, report["lost_processes"]) == (0, []), notes
            assert len(asked) == len(set(asked))
            assert set(web.most_at_once.values()) == {1}
            assert report["services"] >= len(web.expected_valid)
        runs = rows(home, "SELECT pages, services, stopped FROM run")
        assert runs == [(report["pages"], report["valid"], report["stopped"])], "one run, with the counts of all"
        assert notes.count("service found") == report["valid"], "each service is shown once"
        counts = ("pages", "probes", "valid", "failures", "stopped", "reasons")
        found.append((endpoints(home), [report[name] for name in counts]))
        assert not rows(home, "SELECT name FROM meta WHERE name LIKE 'member:%'")
    assert found[0] == found[1]


def test_no_host_is_asked_by_two_at_once_or_before_its_delay(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        scale_web.served(WEB, log) as proxy,
        team_crawl(tmp_path, *START, "--proxy", proxy, *ORDINARY, "--delay", "0.3", "--processes", "3") as crawl,
    ):
        code, report, notes = crawl.end()
    assert (code, report["stopped"]) == (0, "done"), notes
    requests = [json.loads(line) for line in log.read_text().splitlines()]
    kept = politeness(requests, 0.3)
    assert (kept["two_at_once"], kept["before_the_delay"], kept["pages_asked_twice"]) == (0, 0, 0)
    assert report["pages"] == WEB.hosts * WEB.pages_a_host


PAGES_OF_SERVE = ("/", "/collections/services/items", "/operations", "/statistics", "/feed.atom", "/oai?verb=Identify")


@pytest.mark.long
def test_the_pages_of_serve_answer_beside_a_crawl_of_four_processes(tmp_path: Path) -> None:
    answers = Counter[int]()
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(
            tmp_path, *START, "--proxy", proxy, *ORDINARY, "--delay", "0.3", "--processes", "4", "--max-pages", "0"
        ) as crawl,
    ):
        crawl.until(lambda: pages_visited(tmp_path) > 5)
        with served(tmp_path / "c.db") as address:
            while crawl.process.poll() is None:
                answers.update(status_of(f"{address}{path}") for path in PAGES_OF_SERVE)
            code, report, notes = crawl.end()
            answers.update(status_of(f"{address}{path}") for path in PAGES_OF_SERVE)
    assert (code, report["stopped"], report["lost_processes"]) == (0, "done", []), notes
    assert set(answers) == {200} and "locked" not in notes
    assert report["pages"] == WEB.hosts * WEB.pages_a_host


@contextmanager
def served(database: Path) -> Iterator[str]:
    """Serve the pages of a catalogue; yield their address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    said = database.parent / "served"
    command = ("serve", "--db", str(database), "--port", str(port), "--rate", "0")
    process = forked.start(command, env=clean_environment(database.parent), out=said, err=said)
    try:
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
        assert "Traceback" not in said.read_text()
    finally:
        process.kill()
        process.wait()


def status_of(address: str) -> int:
    try:
        with urllib.request.urlopen(address) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("most", sampled([1, 37], 37))
def test_max_pages_holds_exactly_over_all_processes(tmp_path: Path, most: int) -> None:
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(
            tmp_path, *START, "--proxy", proxy, *ORDINARY, "--processes", "4", "--max-pages", str(most)
        ) as crawl,
    ):
        code, report, notes = crawl.end()
    assert (code, report["stopped"], report["pages"]) == (0, "max-pages", most), notes
    assert pages_visited(tmp_path) == most
    kinds = Counter(json.loads(line)["kind"] for line in (tmp_path / "log").read_text().splitlines())
    assert kinds["page"] == most


def test_max_time_ends_all_processes(tmp_path: Path) -> None:
    limits = ("--delay", "0.5", "--processes", "2", "--max-time", "3s")
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(tmp_path, *START, "--proxy", proxy, *ORDINARY, *limits) as crawl,
    ):
        crawl.helpers(1)
        code, report, notes = crawl.end()
    assert code in (0, 1) and report["stopped"] == "max-time", notes
    assert report["pages"] == pages_visited(tmp_path)


@pytest.mark.parametrize(
    ("numbers", "code"),
    sampled(
        [([signal.SIGINT], 130), ([signal.SIGTERM], 0), ([signal.SIGINT, signal.SIGINT], 130)], ([signal.SIGTERM], 0)
    ),
)
def test_a_stop_ends_all_processes_with_one_report(tmp_path: Path, numbers: list[signal.Signals], code: int) -> None:
    with (
        scale_web.served(scale_web.Web(20, 500), tmp_path / "log") as proxy,
        team_crawl(tmp_path, *START, "--proxy", proxy, *ORDINARY, "--max-pages", "0", "--processes", "3") as crawl,
    ):
        crawl.helpers(2)
        crawl.until(lambda: pages_visited(tmp_path) > 30)
        for number in numbers:
            # What the terminal sends to all, a service manager to the first.
            (os.killpg if number == signal.SIGINT else os.kill)(crawl.process.pid, number)
        ended, report, notes = crawl.end()
    assert (ended, report["stopped"]) == (code, "signal"), notes
    assert notes.count("Stopping, ") == 1
    assert report["pages"] == pages_visited(tmp_path)
    assert not rows(tmp_path, "SELECT name FROM host WHERE lease_until > 0"), "all leases were ended"


def test_a_helper_that_a_signal_ends_is_told_in_notes_report_and_exit_code(tmp_path: Path) -> None:
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(tmp_path, *START, "--proxy", proxy, *ORDINARY, "--processes", "2") as crawl,
    ):
        (helper,) = crawl.helpers(1)
        os.kill(helper, signal.SIGABRT)
        code, report, notes = crawl.end()
    assert (code, report["stopped"]) == (3, "done"), notes
    assert report["lost_processes"] == [{"pid": helper, "signal": signal.SIGABRT, "exit_code": None}]
    assert notes.count(f"Process {helper} of this crawl was killed (signal 6)") == 1


@pytest.mark.long
def test_a_killed_helper_is_told_and_its_addresses_are_visited_by_the_others(tmp_path: Path) -> None:
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(tmp_path, *START, "--proxy", proxy, *ORDINARY, "--delay", "0.2", "--processes", "2") as crawl,
    ):
        (helper,) = crawl.helpers(1)
        leased = f"SELECT 1 FROM host WHERE lease_until > 0 AND lease_owner LIKE '%:{helper}'"
        crawl.until(lambda: pages_visited(tmp_path) > 20 and rows(tmp_path, leased))
        os.kill(helper, signal.SIGKILL)
        code, report, notes = crawl.end()
    assert (code, report["stopped"]) == (3, "done"), notes
    assert notes.count(f"Process {helper} of this crawl was killed (signal 9)") == 1
    assert pages_visited(tmp_path) == WEB.hosts * WEB.pages_a_host
    with sqlite3.connect(tmp_path / "c.db") as database:
        check_invariants(database)


def test_helpers_end_with_a_killed_first_process_and_nothing_settled_is_lost(tmp_path: Path) -> None:
    with scale_web.served(WEB, tmp_path / "log") as proxy:
        arguments = ("--proxy", proxy, *ORDINARY, "--delay", "0.2", "--processes", "3")
        with team_crawl(tmp_path, *START, *arguments) as crawl:
            crawl.helpers(2)
            crawl.until(lambda: pages_visited(tmp_path) > 20)
            os.kill(crawl.process.pid, signal.SIGKILL)
            crawl.process.wait()
            crawl.demand_no_helpers()
        before = pages_visited(tmp_path)
        assert before > 20
        with team_crawl(tmp_path, *arguments) as crawl:
            code, report, notes = crawl.end()
    assert (code, report["stopped"]) == (0, "done"), notes
    assert before + report["pages"] == pages_visited(tmp_path) == WEB.hosts * WEB.pages_a_host
    with sqlite3.connect(tmp_path / "c.db") as database:
        check_invariants(database)


def test_workers_names_the_helpers_of_a_crawl_and_status_its_one_run(tmp_path: Path) -> None:
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(tmp_path, *START, "--proxy", proxy, *ORDINARY, "--delay", "2", "--processes", "2") as crawl,
    ):
        (helper,) = crawl.helpers(1)
        first, second = crawl.until(lambda: found if len(found := crawl.workers()) == 2 else [])
        assert first["process"].endswith(f":{crawl.process.pid}") and not first["helps"]
        assert second["process"].endswith(f":{helper}") and second["helps"] == first["process"]
        assert (first["learns"], second["learns"], second["strategy"]) == (True, False, "fusion")
        assert len(rows(tmp_path, "SELECT id FROM run")) == 1
        crawl.process.send_signal(signal.SIGTERM)
        assert crawl.end()[0] == 0
        assert not crawl.workers()


@pytest.mark.long
def test_all_processes_record_to_one_file(tmp_path: Path) -> None:
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(
            tmp_path, *START, "--proxy", proxy, *ORDINARY, "--processes", "3", "--record", "r.warc.gz", "--store-pages"
        ) as crawl,
    ):
        code, report, notes = crawl.end()
    assert code == 0, notes
    with (tmp_path / "r.warc.gz").open("rb") as file:
        found = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI")) for record in ArchiveIterator(file)
        ]
    assert found[0][0] == "warcinfo"
    pages = {address for kind, address in found if kind == "response" and address.endswith((".html", ".example/"))}
    assert len(pages) == report["pages"] == WEB.hosts * WEB.pages_a_host


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", "at least 1"),
        ("-1", "at least 1"),
        ("1000", "at most 64"),
        ("two", "unable to parse string as an integer"),
        ("6", "give --workers 6 or more"),
    ],
)
def test_a_number_of_processes_that_cannot_be_is_refused(tmp_path: Path, value: str, expected: str) -> None:
    done = forked.geocrawl(
        ["crawl", "http://www.a.example/", "--workers", "5", "--processes", value, "--db", str(tmp_path / "c.db")],
        env=clean_environment(tmp_path, COLUMNS="200"),
        cwd=tmp_path,
    )
    assert done.returncode == 2 and expected in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "c.db").exists()


def test_the_configuration_file_may_name_the_number_of_processes(tmp_path: Path) -> None:
    (tmp_path / "geocrawl.toml").write_text("processes = 2\n")
    with (
        scale_web.served(WEB, tmp_path / "log") as proxy,
        team_crawl(tmp_path, *START, "--proxy", proxy, *ORDINARY, "--delay", "1") as crawl,
    ):
        crawl.helpers(1)
        crawl.until(lambda: pages_visited(tmp_path))
        crawl.process.send_signal(signal.SIGTERM)
        assert crawl.end()[0] == 0


def test_a_database_in_memory_is_not_shared(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "geocrawl", "crawl", "http://www.a.example/", "--processes", "2"]
    done = subprocess.run(
        [*command, "--db", "sqlite://"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=clean_environment(tmp_path),
    )
    assert done.returncode == 2 and "in memory" in done.stderr, done.stderr
