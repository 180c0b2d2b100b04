"""The live display: one line a service at every width, what is read in view, the counts of the summary."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.live import Live

from geocrawl.app.crawl import run_crawl
from geocrawl.cli.crawl import last_lines
from geocrawl.cli.progress import LiveObserver, _has_display, _short
from geocrawl.demo import DemoWeb
from geocrawl.model import FrontierStats, Purpose
from geocrawl.sanitize import masked
from geocrawl.settings import Settings
from geocrawl.urls import read_url

ADDRESS = (
    "http://gis.qingshan-map.example:8090/iserver/services/map-water/wms130/water?map=/srv/maps/rivers-and-lakes.map"
)


STATS = FrontierStats(states={}, waiting_by_tier={9: 12, 1: 85_000}, probes_waiting=3, hosts=9, hosts_resting=0)


def terminal(width: int, height: int = 24) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=height)


def busy(width: int, height: int = 24, **limits: float) -> LiveObserver:
    """Return an observer of a run that found eight services and reads five pages."""
    observer = LiveObserver(terminal(width, height), **limits)  # type: ignore[arg-type]
    observer.started(lambda: STATS, ())
    observer._found = [("青山省水系地图服务 Rivers of the water agency", _short(ADDRESS))] * 6
    for number in range(5):
        entry = SimpleNamespace(id=number, url=SimpleNamespace(address=ADDRESS), purpose=Purpose.PROBE)
        observer.leased(SimpleNamespace(entry=entry))  # type: ignore[arg-type]
    return observer


def lines_of(observer: LiveObserver) -> list[str]:
    return [str(line) for line in observer.render().renderables]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_every_service_and_page_is_one_line(width: int) -> None:
    lines = lines_of(busy(width))
    assert max(map(cell_len, lines)) <= width
    assert sum(line.startswith("  + ") for line in lines) == 6
    assert sum(line.startswith("  reading gis.qing") for line in lines) == 5
    assert all("  gis." in line for line in lines if line.startswith("  + "))  # the title leaves room for the address


@pytest.mark.parametrize("height", [5, 8, 10, 14])
def test_a_low_terminal_shows_what_is_read(height: int) -> None:
    lines = lines_of(busy(80, height))
    assert len(lines) < height
    assert lines[-1].startswith("  reading ")


def test_time_and_limits_are_named() -> None:
    observer = busy(80, max_pages=1_000, max_time_s=3_600.0)
    assert lines_of(observer)[1] == "0s of 1h, 0% of 1,000 pages"
    for seconds, pages in ((50, 100), (50, 250)):
        observer._began -= seconds
        observer._summary.pages = pages
        told = lines_of(observer)[1]
    assert told == "1m 40s of 1h, 25% of 1,000 pages, about 5m 10s left"
    observer._summary.pages = 1_000
    told = lines_of(observer)[1]
    assert told.startswith("1m 40s of 1h, 100% of 1,000 pages, 3 probes left, waiting for 5 answers, about ")


def test_the_counts_are_those_of_the_summary(tmp_path: Path) -> None:
    observer = LiveObserver(terminal(120))
    with DemoWeb() as web:
        seeds = [url for url in map(read_url, web.seeds) if url is not None]
        settings = Settings(proxy=web.proxy_url, delay_s=0.0, max_pages=60)
        report = run_crawl(settings, tmp_path / "c.db", seeds, observer=observer)
    s = report.summary
    assert s.failures and s.probes > s.valid > 0
    assert lines_of(observer)[0].endswith(f"{s.failures:,} failed; {s.probes:,} probed, {s.valid:,} valid")
    assert lines_of(observer)[0].startswith(f"{s.pages:,} pages")
    _, *best, search, serve = last_lines(tmp_path / "c.db", ("--db", "c.db"))
    assert len(best) == min(report.services, 5) and all(line.endswith((" layers)", " layer)")) for line in best)
    assert search.endswith(" search WORDS --db c.db") and serve.endswith(" serve --db c.db")


def test_time_after_the_last_page_makes_no_page_slower() -> None:
    observer = busy(80)
    observer._summary.pages, observer._paged_at = 100, observer._began + 10
    assert lines_of(observer)[0].startswith("100 pages (10.0/s)")


def test_the_end_of_the_queue_is_a_number_of_probes_and_answers() -> None:
    observer = busy(80)
    observer.started(lambda: replace(STATS, waiting_by_tier={}), ())
    observer._summary.pages = 1
    assert lines_of(observer)[1] == "0s, 3 probes left, waiting for 5 answers"


def test_a_crawl_that_only_waits_for_slow_services_says_so() -> None:
    observer = busy(80)
    observer.started(lambda: replace(STATS, waiting_by_tier={}, probes_waiting=0), ())
    observer._summary.pages = 1
    observer._settled_at -= 300
    assert lines_of(observer)[1] == "0s, waiting for 5 slow services"


@pytest.mark.parametrize(("term", "shown"), [("xterm-256color", True), ("dumb", False), ("", False)])
def test_a_terminal_that_cannot_move_its_cursor_gets_lines(
    monkeypatch: pytest.MonkeyPatch, term: str, shown: bool
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    assert _has_display(Settings(), json=False, to_file=False) is shown
    assert not _has_display(Settings(log_visits=True), json=False, to_file=False)
    assert _has_display(Settings(log_visits=True), json=False, to_file=True) is shown


def test_notes_are_printed_above_the_display() -> None:
    observer, console = busy(80), terminal(80)
    observer._console = console
    with Live(get_renderable=observer.render, console=console, auto_refresh=False):
        observer.noted("Stopping, 5 requests under way (Ctrl-C again: at once).")
    printed = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    assert "Stopping, 5 requests under way (Ctrl-C again: at once).\n" in printed
    assert printed.index("Stopping") < printed.rindex("reading gis.qing")


@pytest.mark.parametrize("width", range(40, 120, 7))
def test_an_address_that_is_cut_at_its_port_is_not_masked(width: int) -> None:
    assert not [line for line in lines_of(busy(width)) if "***" in masked(line)]
    assert "***" in _short("https://a.example/wms?token=s3cret")
