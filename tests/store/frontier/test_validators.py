"""Validators in the database: for whom they are kept, until when they are asked by, and what a 304 leaves as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from geocrawl.model import (
    Candidate,
    Kind,
    Layer,
    Lease,
    Purpose,
    RankedLink,
    Relevance,
    Service,
    SettlementResult,
    State,
    Validators,
    Verdict,
    Visit,
)
from geocrawl.model.health import DAY_S
from geocrawl.settings import Settings
from geocrawl.store.catalogue.read.history import history_of_service
from geocrawl.store.upkeep.forget import forget
from tests.support.invariants import check_foreign_keys, check_invariants
from tests.support.world import World, candidate, link, url, verdict

SERVICE = Service(Kind.WMS, "1.3.0", "Maps", layers=(Layer("roads", "Roads"),), fingerprint="a")
PAGE, WMS = "http://a.example/page", "http://maps.example/ows"
ASKED = Validators(f"{WMS}?request=GetCapabilities", 'W/"7"', "Sun, 06 Nov 1994 08:49:37 GMT")
OF_PAGE = Validators(PAGE, '"p"')


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url, learns=True)


def settle(
    world: World,
    *,
    validators: Validators | None = None,
    found: Verdict | None = None,
    links: Iterable[RankedLink] = (),
    names: Iterable[Candidate] = (),
    state: State = State.VISITED,
    http_status: int | None = 200,
) -> tuple[Lease, SettlementResult]:
    """Lease what is next, and settle it as one that was read whole."""
    lease = world.lease()
    visit = Visit(
        lease,
        state,
        found.reason if found else "ok",
        replace(lease.host, next_at=0.0),
        world.clock.now(),
        http_status=http_status,
        content_type="text/html",
        size_bytes=7,
        elapsed_ms=900.0,
        title="A page",
        relevance=Relevance.HIGH,
        score=0.5,
        links=tuple(links),
        candidates=tuple((each, None) for each in names),
        verdict=found,
        digest=1,
        validators=validators,
    )
    return lease, world.frontier.settle(visit)


def settle_not_modified(world: World) -> tuple[Lease, SettlementResult]:
    lease = world.lease()
    visit = Visit(
        lease,
        State.VISITED,
        "not-modified",
        replace(lease.host, next_at=0.0),
        world.clock.now(),
        http_status=304,
        elapsed_ms=3.0,
        not_modified=True,
    )
    return lease, world.frontier.settle(visit)


def probed(world: World, found: Verdict | None = None, validators: Validators | None = ASKED) -> Lease:
    """The service, asked and settled."""
    world.frontier.add_candidates([candidate(WMS)])
    return settle(world, found=found or verdict(service=SERVICE, elapsed_ms=900.0), validators=validators)[0]


def read_page(world: World, validators: Validators | None = OF_PAGE) -> None:
    """A page that names a service, read; the service does not answer."""
    world.seed(PAGE)
    settle(world, validators=validators, links=[link("a.example/next")], names=[candidate("http://b.example/wms")])
    settle(world, found=verdict("dns"), state=State.FAILED)
    settle(world, validators=Validators("http://a.example/next", '"n"'))  # names none, and is not read again


def later(world: World, days: float) -> None:
    """What is due after so many days waits again."""
    world.clock.time += days * DAY_S
    world.frontier.reprobe(world.clock.now(), 10)
    world.frontier.revisit(world.clock.now(), 10, catalogues=False)


def kept(world: World) -> list[tuple[str, str]]:
    return world.database.connection.execute("SELECT address, etag FROM validator ORDER BY url_id").fetchall()


def one(world: World, statement: str) -> tuple[object, ...]:
    row: tuple[object, ...] = world.database.connection.execute(statement).fetchone()
    return row


# --------------------------------------------------------------------------- for whom they are kept


def test_a_first_crawl_is_asked_by_none(world: World) -> None:
    world.seed(PAGE)
    lease, _ = settle(world, validators=OF_PAGE, names=[candidate(WMS)])
    probe, _ = settle(world, found=verdict(service=SERVICE), validators=ASKED)
    assert lease.entry.validators is None and probe.entry.validators is None


def test_a_service_that_is_due_is_asked_by_what_its_last_answer_had(world: World) -> None:
    probed(world)
    later(world, 2)
    assert world.lease().entry.validators == ASKED


def test_a_page_that_is_read_again_is_asked_by_them_and_one_that_is_not_keeps_none(world: World) -> None:
    read_page(world)
    assert kept(world) == [(PAGE, '"p"')]
    world.clock.time += 8 * DAY_S
    assert world.frontier.revisit(world.clock.now(), 10, catalogues=False) == 1
    assert world.lease().entry.validators == OF_PAGE


@pytest.mark.parametrize("found", [verdict("exception"), verdict("http-500"), verdict(service=SERVICE)])
def test_an_answer_without_any_drops_the_former_ones(world: World, found: Verdict) -> None:
    probed(world)
    later(world, 2)
    settle(world, found=found)
    assert kept(world) == []


def test_a_service_that_did_not_answer_is_read_whole_next(world: World) -> None:
    probed(world)
    later(world, 2)
    lease, _ = settle(world, found=verdict("dns", http_status=None), state=State.FAILED, http_status=None)
    assert lease.entry.validators == ASKED
    later(world, 1)
    assert world.lease().entry.validators is None


# --------------------------------------------------------------------------- until when


def test_after_thirty_days_all_is_read_again_whatever_the_server_says(world: World) -> None:
    probed(world)
    asked_by = []
    for _ in range(20):
        later(world, 8)
        lease = world.lease()
        asked_by.append(lease.entry.validators is not None)
        world.frontier.release(lease)
        if lease.entry.validators:
            settle_not_modified(world)
        else:
            settle(world, found=verdict(service=SERVICE), validators=ASKED)
    assert asked_by == [True, True, True, False] * 5


def test_with_a_trust_of_nothing_everything_is_read(engine_url: str) -> None:
    world = World(engine_url, Settings(delay_s=0, not_modified_s=0))
    probed(world)
    later(world, 2)
    assert world.lease().entry.validators is None


@pytest.mark.parametrize("waits", [False, True])
def test_who_names_a_service_or_a_page_wants_it_read(world: World, waits: bool) -> None:
    probed(world)
    if waits:
        later(world, 2)
    world.frontier.add_candidates([candidate(WMS)], again=True)
    lease, _ = settle(world, found=verdict(service=SERVICE))
    assert lease.entry.purpose is Purpose.PROBE and lease.entry.validators is None
    world.seed(PAGE)
    settle(world, validators=OF_PAGE, names=[candidate(WMS)])
    if waits:
        later(world, 8)
    world.seed(PAGE, again=True)
    assert kept(world) == []


def test_what_a_person_tries_again_is_read_whole(world: World) -> None:
    probed(world)
    later(world, 2)
    settle(world, found=verdict("dns", http_status=None), state=State.FAILED, http_status=None)
    assert kept(world) != []
    assert world.frontier.retry(reason="dns") == 1
    assert kept(world) == []


def test_a_harvest_reads_the_pages_of_records_whole(world: World) -> None:
    page = url("a.example/records?start=1")
    assert world.frontier.add_records([page]) == 1
    settle(world, validators=Validators(page.address, '"r"'))
    assert (page.address, '"r"') in kept(world)
    assert world.frontier.add_records([page]) == 1
    assert world.lease().entry.validators is None


def test_links_to_a_service_leave_them_where_they_are(world: World) -> None:
    probed(world)
    world.seed(PAGE)
    settle(world, names=[candidate(WMS)])
    assert kept(world) == [(ASKED.address, ASKED.etag)]


# --------------------------------------------------------------------------- what a 304 leaves, and what it moves on

STAYS = "SELECT status, reason, http_status, version, service_id, deviations, level FROM endpoint"


def test_a_304_of_a_service_is_a_valid_probe_that_leaves_its_description(world: World) -> None:
    probed(world)
    connection = world.database.connection
    before, texts = one(world, STAYS), connection.execute("SELECT * FROM layer").fetchall()
    rate = one(world, "SELECT fruitless, finds FROM pattern")
    later(world, 2)
    _, settled = settle_not_modified(world)
    now = world.clock.now()
    assert settled.feedback is None and (settled.new_links, settled.new_candidates) == (0, 0)
    assert one(world, STAYS) == before and connection.execute("SELECT * FROM layer").fetchall() == texts
    assert one(world, "SELECT last_ok, last_probe, probes, health, in_a_row FROM endpoint") == (now, now, 2, "alive", 2)
    assert one(world, "SELECT last_ok, title FROM service") == (now, "Maps")
    row = "SELECT status, reason, http_status, requests FROM probe ORDER BY id DESC LIMIT 1"
    assert one(world, row) == ("valid", "not-modified", 304, 1)
    assert one(world, "SELECT fruitless, finds FROM pattern") == rate
    assert one(world, "SELECT due_at > last_probe + 86400 FROM endpoint") == (1,), "as after any valid answer"
    (past,) = history_of_service(connection, 1, now)
    assert past.availability[7] == 1.0 and past.response_ms == {}, "of the one whole answer alone"
    check_invariants(connection)


def test_a_service_that_came_back_is_read_whole_first(world: World) -> None:
    probed(world)
    later(world, 2)
    settle(world, found=verdict("http-404"))
    later(world, 1)
    back, _ = settle(world, found=verdict(service=SERVICE), validators=ASKED)
    assert back.entry.validators is None
    later(world, 2)
    settle_not_modified(world)
    assert one(world, "SELECT health FROM endpoint") == ("alive",)
    assert one(world, "SELECT reason FROM health_event ORDER BY id DESC LIMIT 1") == ("not-modified",)


def test_a_304_of_a_page_leaves_what_was_read_and_waits_longer(world: World) -> None:
    read_page(world)
    columns = "title, digest, content_type, size_bytes, relevance, page_score, changes"
    stays = f"SELECT {columns} FROM url WHERE address = '{PAGE}'"
    before = one(world, stays)
    world.clock.time += 8 * DAY_S
    world.frontier.revisit(world.clock.now(), 10, catalogues=False)
    lessons = len([*world.frontier.feedback()])
    _, settled = settle_not_modified(world)
    assert settled.feedback is None and len([*world.frontier.feedback()]) == lessons
    assert one(world, stays) == before
    again = f"SELECT state, reason, http_status, revisit_s / 86400.0 FROM url WHERE address = '{PAGE}'"
    assert one(world, again) == ("visited", "not-modified", 304, 10.5)
    assert kept(world) == [(PAGE, '"p"')]
    check_invariants(world.database.connection)


# --------------------------------------------------------------------------- what else looks after the table


def test_a_host_that_is_forgotten_leaves_none(world: World) -> None:
    probed(world)
    read_page(world)
    forget(world.database, "maps.example", "", 5.0)
    assert kept(world) == [(PAGE, '"p"')]
    forget(world.database, "a.example", "", 5.0)
    assert kept(world) == []
    check_foreign_keys(world.database.connection)
