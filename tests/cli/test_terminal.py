"""What commands print on terminals of 80 and of 120 columns: tables that fit, of whole words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from geocrawl.cli.demo import _print_catalogue
from geocrawl.demo import DemoWeb
from geocrawl.demo.kinds import OFFICES
from tests.support.commands import geocrawl
from tests.support.crawls import crawl, settings_for

_WORD = re.compile(r"[A-Za-z]+")
_CUT = re.compile(r"\S*…\S*")
_ADDRESS = re.compile(r"https?://\S+|/\S+")


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@pytest.fixture(scope="module")
def crawled(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of the demo's web with a watch."""
    path = tmp_path_factory.mktemp("terminal") / "c.db"
    crawl(settings_for(web), path, web.seeds)
    added = geocrawl("watch", "add", "flood hazard country:CH", "--every", "1h", "--db", str(path))
    assert added.code == 0, added.err
    return path


def check_lines(shown: str, whole: str, columns: int) -> None:
    """Fail for a line that is wider than the terminal, for an address cut at its end, and for a part of a word of the
    `whole` text, if there is one."""
    assert [line for line in shown.splitlines() if cell_len(line) > columns and not _ADDRESS.search(line)] == []
    if whole:
        assert set(_WORD.findall(_CUT.sub(" ", shown))) - set(_WORD.findall(whole)) == set()
    assert [cut for cut in _CUT.findall(shown) if cut.endswith("…") and cut.startswith("http")] == []


LAKES = "http://gis.qingshan-map.example:8090/iserver/services/map-water/wms130/water"
"""A service that speaks Chinese, whose letters are two columns wide."""
COMMANDS = ["search rivers", "changes --limit 30", "status", "config show", "watch list", "check", f"show {LAKES}"]


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("typed", COMMANDS)
def test_tables_fit_the_terminal_and_break_no_word(crawled: Path, typed: str, columns: int) -> None:
    place = () if typed == "config show" else ("--db", str(crawled))
    shown = geocrawl(*typed.split(), *place, columns=columns)
    is_prose = typed.startswith(("status", "check", "show"))  # whose times and ages change from one run to the next
    assert shown.out
    check_lines(shown.out, "" if is_prose else geocrawl(*typed.split(), *place).out, columns)


@pytest.mark.parametrize("columns", [80, 120])
def test_the_end_of_a_demo_fits_the_terminal(
    crawled: Path, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for wide in (columns, 0):
        monkeypatch.setattr("sys.stdout.isatty", lambda is_terminal=bool(wide): is_terminal)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "dumb")
        _print_catalogue(crawled)
        texts.append(capsys.readouterr().out)
    shown, whole = texts
    check_lines(shown, whole, columns)


@pytest.mark.parametrize("columns", [80, 120])
def test_the_end_of_a_harvest_fits_the_terminal(web: DemoWeb, columns: int, tmp_path: Path) -> None:
    (address,) = (each.address(office) for office in OFFICES for each in office.services if each.kind == "csw")
    place = ("--proxy", web.proxy_url, "--delay", "0", "--db", str(tmp_path / "h.db"))
    shown = geocrawl("harvest", address, *place, columns=columns)
    assert "records" in shown.out, shown.err
    check_lines(shown.out, "", columns)
