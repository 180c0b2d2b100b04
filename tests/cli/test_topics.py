"""`geocrawl topics` and `crawl --topic` as people type them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from geocrawl.demo.web import DemoWeb
from tests.support import forked


def geocrawl(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_DATA_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    return forked.geocrawl(arguments, env=environment, cwd=home)


@pytest.fixture
def peat(tmp_path: Path) -> Path:
    """A home in which the topic environment/peat was added, with two pages of the demo web to start from."""
    (tmp_path / "peat.txt").write_text("Norvale has maps of peat bogs and moss.", encoding="utf-8")
    seeds = ("http://www.norvale-geoportal.example/", "no address", "http://www.qingshan-map.example/")
    (tmp_path / "seeds.txt").write_text("\n".join(seeds), encoding="utf-8")
    arguments = ("--text", "peat.txt", "--seeds", "seeds.txt", "--title", "Peat and bogs")
    done = geocrawl(tmp_path, "topics", "add", "environment/peat", *arguments)
    assert done.returncode == 0, done.stderr
    assert "line 2: not a web address" in done.stderr
    return tmp_path


def test_ones_own_topics_are_listed_and_shown_beside_the_shipped_ones(peat: Path) -> None:
    listed = {each["name"]: each for each in json.loads(geocrawl(peat, "topics", "list", "--json").stdout)}
    assert listed["environment/peat"]["own"]
    assert listed["geoservices/wms"]["default"]
    assert "environment/peat" in geocrawl(peat, "topics", "list").stdout
    shown = geocrawl(peat, "topics", "show", "environment/peat").stdout
    assert "Peat and bogs (yours)" in shown
    assert "2 start pages" in shown
    assert "Dateno), CC-BY 4.0" not in shown
    assert "CC-BY 4.0" in geocrawl(peat, "topics", "show", "environment/soil").stdout


def test_a_crawl_for_a_topic_starts_at_its_pages_and_remembers_it(peat: Path) -> None:
    with DemoWeb() as web:
        options = ("--proxy", web.proxy_url, "--delay", "0", "--max-pages", "5", "--db", "peat.db", "--json")
        first = geocrawl(peat, "crawl", "--topic", "environment/peat", "--strategy", "best-first", *options)
        assert first.returncode == 0, first.stderr
        assert json.loads(first.stdout)["pages"] == 5
        again = geocrawl(peat, "crawl", *options)
        assert json.loads(again.stdout)["strategy"] == "best-first"
        other = geocrawl(peat, "crawl", "--topic", "water/ocean", "--seeds", "seeds.txt", *options)
    assert "Continuing with" in again.stderr
    assert "best-first (topic water/ocean) instead of best-first (topic environment/peat)" in other.stderr


def test_a_crawl_for_a_topic_that_was_deleted_says_how_to_go_on(peat: Path) -> None:
    with DemoWeb() as web:
        options = ("--proxy", web.proxy_url, "--delay", "0", "--max-pages", "3")
        geocrawl(peat, "crawl", "--topic", "environment/peat", "--strategy", "best-first", *options)
        (file,) = peat.rglob("peat.toml")
        file.unlink()
        gone = geocrawl(peat, "crawl", "--proxy", web.proxy_url, "--delay", "0")
        assert gone.returncode == 2
        assert len(gone.stderr.strip().splitlines()) == 1
        assert "environment/peat, which no longer exists" in gone.stderr and "geocrawl topics add" in gone.stderr
        other = geocrawl(peat, "crawl", "--topic", "water/ocean", "--seeds", "seeds.txt", *options)
        assert other.returncode == 0


def test_adaptive_learns_its_topic_from_the_given_pages(tmp_path: Path) -> None:
    with DemoWeb() as web:
        options = ("--proxy", web.proxy_url, "--delay", "0", "--max-pages", "20", "--db", "x.db", "--json")
        seeds = ("http://www.norvale-geoportal.example/", "http://www.qingshan-map.example/")
        done = geocrawl(tmp_path, "crawl", *seeds, "--strategy", "adaptive", "--workers", "1", *options)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["pages"] == 20
    why = geocrawl(tmp_path, "why", "http://www.norvale-geoportal.example/", "--db", "x.db", "--json")
    assert '"seeds": 2' in why.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("topics", "show", "environment/soils"), "did you mean environment/soil?"),
        (("topics", "add", "peat", "--text", "peat.txt"), "expected GROUP/NAME"),
        (("topics", "add", "a/b", "--text", "none.txt"), "none.txt: No such file"),
        (("crawl", "--topic", "nothing/here"), "unknown topic 'nothing/here'"),
    ],
)
def test_what_cannot_be_meant_is_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "peat.txt").write_text("peat", encoding="utf-8")
    done = geocrawl(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
