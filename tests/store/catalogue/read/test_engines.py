"""Every query answers the same on each engine."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geocrawl.filters import Cql2, Filters
from geocrawl.model import ContentReport, Deviation, Field, Kind, Layer, Level, Rank, Service, StoredPage
from geocrawl.model.search import Selection
from geocrawl.model.times import read_interval
from geocrawl.settings import Settings
from geocrawl.store import (
    Connection,
    OptOut,
    read_blocked,
    stored_strategy,
    stored_topic,
)
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.catalogue.index.index import offers_reference_system, search_engine
from geocrawl.store.catalogue.read.history import (
    changes_since,
    history_of_service,
    read_news,
    read_survival,
    service_months,
)
from geocrawl.store.catalogue.read.provider_report import provider_cards, provider_counts
from geocrawl.store.catalogue.read.show import addresses_at, addresses_of, read_why, service_at, service_detail
from geocrawl.store.catalogue.read.statistics import (
    kind_counts,
    last_service_number,
    month_report,
    read_growth,
    read_software_growth,
    read_statistics,
    service_numbers,
    signal_yields,
)
from geocrawl.store.catalogue.read.watched import count_watched, watched_services
from geocrawl.store.catalogue.services import read_endpoints, read_layers, read_services, read_thumbnail, selected_ids
from geocrawl.store.frontier.budgets import PATTERN_SPENT
from geocrawl.store.frontier.learner import read_feedback
from geocrawl.store.frontier.page_store import count_kept, kept_page, kept_pages, list_kept
from geocrawl.store.frontier.status import read_status
from geocrawl.store.frontier.yields import link_finds, services_by_seed
from geocrawl.store.store import Store
from geocrawl.store.upkeep.forget import forget
from geocrawl.store.upkeep.seeds import NewSeed, add_seeds, read_seeds, seed_addresses
from tests.support.world import World, candidate, link, url, verdict

NOW = 1_000_000.0
SAID = "The soils of the country, by their parent material, and what they are used for."
CONDITIONS = (
    "time:2015/2020",
    "-time:2016",
    "licence:open",
    "-licence:open",
    "language:en",
    "field:RIVER_ID",
    "field:fluss",
)
CQL2 = (
    "T_INTERSECTS(time, INTERVAL('2015-01-01', '2020-01-01'))",
    "NOT T_INTERSECTS(time, DATE('2031-01-01'))",
    "license = 'CC-BY-4.0' AND language IS NULL",
    "A_CONTAINS(fields, ('river_id'))",
    "A_OVERLAPS(fields, ('nothing', 'Fluss'))",
    "fields IS NULL",
)
QUESTIONS: dict[str, Callable[[Connection], Any]] = {
    "service": lambda q: (service_detail(q, 1), service_detail(q, 99)),
    "service at": lambda q: service_at(q, url("http://s1.example/wms?service=WMS")),
    "addresses": lambda q: (
        addresses_of(q, 1),
        addresses_at(q, url("s1.example/wms")),
        addresses_at(q, url("s1.example/wms?token=***")),
        read_thumbnail(q, 1),
    ),
    "numbers": lambda q: (service_numbers(q, 0, 9), last_service_number(q), stored_strategy(q), stored_topic(q)),
    "export": lambda q: (list(read_endpoints(q, Selection())), list(read_endpoints(q, Selection("wms")))),
    "published": lambda q: list(read_services(q, Selection())),
    "selected": lambda q: [
        selected_ids(q, each)
        for each in (
            Selection(kind="wms", alive=True),
            Selection(box=(0, 0, 9, 9)),
            Selection(level="answers"),
            Selection(ids=(1, 2)),
        )
    ],
    "providers": lambda q: (provider_counts(q, 9), list(provider_cards(q))),
    "layers": lambda q: list(read_layers(q, Selection(ids=(1,)))),
    "signals": lambda q: signal_yields(q),
    "kinds": lambda q: kind_counts(q),
    "statistics": lambda q: (read_statistics(q), read_growth(q, 7), read_software_growth(q, 7)),
    "news": lambda q: (read_news(q, 9), read_news(q, 9, [1])),
    "history": lambda q: history_of_service(q, 1, NOW + 99),
    "changes": lambda q: list(changes_since(q, 0.0, 9)),
    "report": lambda q: list(month_report(q, 0.0, NOW + 1)),
    "months": lambda q: list(service_months(q, [(0.0, NOW), (NOW, NOW + 1)])),
    "watched": lambda q: (count_watched(q), watched_services(q, NOW + 1, 9)),
    "survival": lambda q: read_survival(q),
    "status": lambda q: replace(read_status(q, NOW), size=None),  # type: ignore[arg-type]
    "why": lambda q: (read_why(q, url("a.example/")), read_why(q, url("s1.example/wms?service=WMS"))),
    "finds": lambda q: list(link_finds(q)),
    "feedback": lambda q: list(read_feedback(q)),
    "pages": lambda q: (list_kept(q), count_kept(q), list(kept_pages(q)), kept_page(q, url("a.example/"))),
    "seeds": lambda q: (read_seeds(q), seed_addresses(q), services_by_seed(q)),
    "opted out": lambda q: (read_blocked(q), OptOut(q).covers("www.gone.example")),
    "search": lambda q: [
        [
            (hit.id, hit.title, [layer.name for layer in hit.matching_layers])
            for hit in search_engine(q).search(text).hits
        ]
        for text in ("soil", "soil map", "土地", "sol* wms", '"soil map"', "roads s2.example", "nothing of it")
    ],
    "conditions": lambda q: {
        condition: [(hit.id, hit.language, hit.time_end) for hit in search_engine(q).search(condition).hits]
        for condition in CONDITIONS
    },
    "CQL2": lambda q: {
        text: [hit.id for hit in search_engine(q).search("", Filters(cql2=Cql2(text))).hits] for text in CQL2
    },
    "fields": lambda q: [layer.fields for layer in read_layers(q, Selection())],
    "mistyped": lambda q: search_engine(q).search("hydrografhy").suggestion,
    "crs": lambda q: (offers_reference_system(q, "EPSG:4326"), offers_reference_system(q, "EPSG:1")),
}


def filled(target: str) -> None:
    world = World(target, Settings(delay_s=0, max_fruitless_per_pattern=3), learns=True)
    store = world.store
    run = store.start_run("gws", world.settings)
    add_seeds(store.database, [NewSeed(url("a.example/"), "A", "Europe", "en"), NewSeed(url("b.example/"))], NOW)
    world.seed("a.example/", "b.example/")
    services = [candidate(f"s{n}.example/wms?service=WMS", page="http://a.example/") for n in range(5)]
    links = [link(f"h{n % 3}.example/p/{n}", tier=n % 4) for n in range(40)]
    stored = StoredPage("utf-8", zlib.compress(b"a page"), 0.5)
    world.settle(world.lease(), *links, candidates=[(each, None) for each in services], stored=stored)
    titles = ("Soil map", "Hydrography", "土地利用图", "Soil of Bavaria", "Roads")
    for title in titles:
        found = Service(Kind.WMS, "1.3.0", title, abstract=f"About {title}", keywords=("map", "sols"), provider="Land")
        if title == "Soil map":
            layers = (Layer("soil", "Soil", times=read_interval("2015", "2020")),)
            found = replace(found, access_constraints="CC BY 4.0", layers=layers, abstract=SAID)
        odd = (Deviation("tls-expired", "since \0 yesterday"), Deviation("no-crs", "x"))
        world.clock.time += 60
        lease = world.lease()
        is_good = title != "Roads"
        told = ContentReport(Level.ANSWERS, fields={"soil": (Field("river_id", "string", "Fluss"),)})
        world.settle(
            lease,
            verdict=verdict("ok" if is_good else "html", found if is_good else None, deviations=odd),
            content_report=told if title == "Soil map" else None,
        )
    for _ in range(10):
        world.visit(link("new.example/x"))
    world.frontier.rerank([(5, Rank(9, 1.0)), (6, None)])
    forget(store.database, "gone.example", "asked to", NOW)
    assert world.frontier.retry(reason=PATTERN_SPENT) >= 0
    store.end_run(run, pages=1, services=4, stopped="ended")
    store.close()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    path: Path = tmp_path_factory.mktemp("engines") / "c.db"
    urls = [f"sqlite:///{path}", request.getfixturevalue("postgres_server").new_catalogue()]
    for each in urls:
        filled(each)
    yield urls


def test_a_provider_has_as_many_services_in_the_list_as_on_its_card(both: list[str]) -> None:
    for each in both:
        with Catalogue(each) as catalogue:
            counts = dict(catalogue.providers(99))
            assert counts == {card.provider: len(card.entries) for card in catalogue.provider_cards()} != {}
            assert all(len(catalogue.provider(name).entries) == count for name, count in counts.items())  # type: ignore[union-attr]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_one_answer(both: list[str], question: str) -> None:
    answers = []
    for each in both:
        with Store.open_readonly(each) as connection:
            answers.append(QUESTIONS[question](connection))
    assert answers[0] == answers[1]
