"""Visits of damaged and hostile answers, into a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.page.document import PageReader
from tests.crawler import fuzz_documents, fuzz_visits, fuzz_web
from tests.support.samples import sampled

Bodies = list[tuple[str, bytes]]


@pytest.fixture(scope="module")
def bodies(shared: Path) -> Bodies:
    return fuzz_documents.documents(shared, largest=15_000, pages=30)


def assert_sturdy(result: fuzz_visits.Result, visits: int) -> None:
    assert result.faults == [], "\n".join(result.faults)
    assert result.problems == [], "\n".join(result.problems)
    assert (result.not_settled, result.visits >= visits) == (0, True)
    assert min(result.reasons["page ok"], result.reasons["probe ok"]) > 3, "most damage is slight and read over"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("strategy", "visits"), sampled([("gws", 150), ("fusion", 150), ("bayes", 100)], ("fusion", 150))
)
def test_no_answer_breaks_a_visit_or_what_reads_the_catalogue(
    bodies: Bodies, tmp_path: Path, strategy: str, visits: int
) -> None:
    web = fuzz_web.FuzzWeb(bodies, visits, hostile_bytes=100_000)
    assert_sturdy(fuzz_visits.crawl(web, tmp_path / "c.db", strategy, visits, asked=8), visits)


@pytest.mark.shared
def test_no_answer_over_a_connection_breaks_a_visit(bodies: Bodies, tmp_path: Path) -> None:
    web = fuzz_web.FuzzWeb(bodies, 3, hostile_bytes=100_000)
    assert_sturdy(fuzz_visits.crawl(web, tmp_path / "c.db", "bfs", 120, asked=8, workers=4, live=True), 120)


@pytest.mark.shared
def test_a_visit_that_breaks_is_seen(bodies: Bodies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object, **__: object) -> None:
        raise RecursionError("a defect")

    monkeypatch.setattr(PageReader, "read", read)
    web = fuzz_web.FuzzWeb(bodies, 1, hostile_bytes=20_000)
    result = fuzz_visits.crawl(web, tmp_path / "c.db", "bfs", 30, asked=2)
    assert len(result.faults) == result.reasons["page internal-error"] > 3
    assert "RecursionError: a defect" in result.faults[0]


def test_the_same_seed_gives_the_same_web() -> None:
    made = [fuzz_web.FuzzWeb([("a/b", b"<a>1</a>")], seed, hostile_bytes=5_000) for seed in (3, 3, 4)]
    one, same, other = ([web.answer(address) for address in web.seeds(60)] for web in made)
    assert one == same != other
