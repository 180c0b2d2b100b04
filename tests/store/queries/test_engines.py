"""Every query answers the same on each engine."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geocrawl.model import Deviation, Kind, Rank, Service, StoredPage
from geocrawl.settings import Settings
from geocrawl.store import NewSeed, Queries, Selection
from geocrawl.store.frontier.budgets import PATTERN
from geocrawl.store.store import Store
from geocrawl.urls import endpoint_key
from tests.support.world import World, candidate, link, url, verdict

NOW = 1_000_000.0
QUESTIONS: dict[str, Callable[[Queries], Any]] = {
    "service": lambda q: (q.service(1), q.service(99)),
    "service at": lambda q: q.service_at(endpoint_key(url("http://s1.example/wms?service=WMS"))),
    "addresses": lambda q: (
        q.addresses_of(1),
        q.addresses_at(url("s1.example/wms")),
        q.thumbnail(1),
        q.with_thumbnail([1]),
    ),
    "numbers": lambda q: (q.service_numbers(0, 9), q.last_service_number(), q.strategy(), q.topic()),
    "export": lambda q: (list(q.export_rows()), list(q.export_rows("wms"))),
    "published": lambda q: list(q.published_services(Selection())),
    "selected": lambda q: [
        q.selected_ids(each)
        for each in (
            Selection(kind="wms", alive=True),
            Selection(box=(0, 0, 9, 9)),
            Selection(level="answers"),
            Selection(ids=(1, 2)),
        )
    ],
    "layers": lambda q: list(q.published_layers(Selection(ids=(1,)))),
    "signals": lambda q: q.signal_yields(),
    "kinds": lambda q: q.kind_counts(),
    "statistics": lambda q: (q.statistics(), q.growth(7), q.software_growth(7)),
    "news": lambda q: (q.news(9), q.news(9, 1)),
    "history": lambda q: q.history_of_service(1, NOW + 99),
    "changes": lambda q: list(q.changes_since(0.0, 9)),
    "report": lambda q: list(q.month_report(0.0, NOW + 1)),
    "survival": lambda q: q.survival(),
    "status": lambda q: replace(q.status(NOW), size=None),  # type: ignore[arg-type]
    "last visit": lambda q: q.last_visit_at(),
    "why": lambda q: (q.why(url("a.example/")), q.why(url("s1.example/wms?service=WMS"))),
    "finds": lambda q: list(q.link_finds()),
    "feedback": lambda q: list(q.feedback()),
    "pages": lambda q: (q.list_kept(), q.count_kept(), list(q.kept_pages()), q.kept_page(url("a.example/"))),
    "seeds": lambda q: (q.seeds(), q.seed_addresses(), q.services_by_seed()),
    "opted out": lambda q: (q.opted_out(), q.has_opted_out("www.gone.example")),
    "search": lambda q: [
        [(hit.id, hit.title, [layer.name for layer in hit.layers]) for hit in q.search_engine().search(text).hits]
        for text in ("soil", "soil map", "土地", "sol* wms", '"soil map"', "roads s2.example", "nothing of it")
    ],
    "mistyped": lambda q: q.search_engine().search("hydrografhy").suggestion,
    "crs": lambda q: (q.offers_reference_system("EPSG:4326"), q.offers_reference_system("EPSG:1")),
}


def filled(target: str) -> None:
    world = World(target, Settings(delay_s=0, max_fruitless_per_pattern=3), learns=True)
    store = world.store
    run = store.start_run("gws", world.settings)
    store.add_seeds([NewSeed(url("a.example/"), "A", "Europe", "en"), NewSeed(url("b.example/"))], NOW)
    world.seed("a.example/", "b.example/")
    services = [candidate(f"s{n}.example/wms?service=WMS", page="http://a.example/") for n in range(5)]
    links = [link(f"h{n % 3}.example/p/{n}", tier=n % 4) for n in range(40)]
    stored = StoredPage("utf-8", zlib.compress(b"a page"), 0.5)
    world.settle(world.lease(), *links, candidates=[(each, None) for each in services], stored=stored)
    titles = ("Soil map", "Hydrography", "土地利用图", "Soil of Bavaria", "Roads")
    for title in titles:
        found = Service(Kind.WMS, "1.3.0", title, abstract=f"About {title}", keywords=("map", "sols"), provider="Land")
        odd = (Deviation("tls-expired", "since \0 yesterday"), Deviation("no-crs", "x"))
        world.clock.time += 60
        lease = world.lease()
        is_good = title != "Roads"
        world.settle(lease, verdict=verdict("ok" if is_good else "html", found if is_good else None, deviations=odd))
    for _ in range(10):
        world.visit(link("new.example/x"))
    world.frontier.rerank([(5, Rank(9, 1.0)), (6, None)])
    store.forget("gone.example", "asked to", NOW)
    assert world.frontier.retry(reason=PATTERN) >= 0
    store.end_run(run, pages=1, services=4, stopped="ended")
    store.close()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    path: Path = tmp_path_factory.mktemp("engines") / "c.db"
    urls = [f"sqlite:///{path}", request.getfixturevalue("postgres_server").new_catalogue()]
    for each in urls:
        filled(each)
    yield urls


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_one_answer(both: list[str], question: str) -> None:
    answers = []
    for each in both:
        with Store.open_readonly(each) as queries:
            answers.append(QUESTIONS[question](queries))
    assert answers[0] == answers[1]
