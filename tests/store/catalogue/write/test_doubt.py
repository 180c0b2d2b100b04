"""Days of services behind a network that answers in their place, and of services that really fail alike."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from geocrawl.app.findings import Finding, check_status
from geocrawl.cli.show import history_lines
from geocrawl.model import Kind, Layer, Service, Status, Verdict
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.store.catalogue.read.history import history_of_service
from geocrawl.store.frontier.status import read_status
from tests.support.world import World, candidate, verdict

PARKED = "<!DOCTYPE html><title>This domain is for sale</title>"
Behaviour = Callable[[str, float], Verdict | None]
"""Host and day → the failure that is seen, None for a good answer."""


def page(title: str) -> Verdict:
    return verdict("html", first_bytes=title, content_type="text/html")


def login(host: str) -> Verdict:
    token = hashlib.sha256(host.encode()).hexdigest()[:20]
    return page(f"<title>Log in</title><input value={token}><a href='http://login.example/?for=http://{host}/wms'>")


def to_filter(host: str) -> Verdict:
    return verdict("moved", http_status=302, detail=f"http://filter.example/blocked?url=http://{host}/")


class Web:
    """Services at hosts, asked when they are due."""

    def __init__(self, path: str | Path, hosts: Sequence[str]) -> None:
        self.world = World(path)
        self.hosts = hosts
        self.begin = self.world.clock.now()
        self.told: list[bool] = []
        """Each hour: whether the network was suspected."""
        for host in hosts:
            self._ask(host, None)

    def _ask(self, host: str, failure: Verdict | None) -> None:
        service = Service(kind=Kind.WMS, version="1.3.0", title=host, layers=(Layer(host, host),), fingerprint=host)
        found = failure or verdict("ok", service)
        self.world.record(candidate(f"http://{host}/wms?service=WMS"), found, self.world.clock.now())

    def live(self, days: float, behaviour: Behaviour, step_s: float = HOUR_S) -> None:
        for _ in range(round(days * DAY_S / step_s)):
            self.world.clock.time += step_s
            now = self.world.clock.now()
            due = self.world.database.connection.execute(
                "SELECT host FROM endpoint WHERE due_at <= ? ORDER BY due_at, id", (now,)
            ).fetchall()
            for (host,) in due:
                self._ask(host, behaviour(host, (now - self.begin) / DAY_S))
            self.told.append(bool(self.findings))

    @property
    def findings(self) -> list[Finding]:
        now = self.world.clock.now()
        with self.world.reading() as connection:
            found = check_status(read_status(connection, now), self.world.database.path, now, needs_daemon=False)
            return [each for each in found if each.subject == "network"]

    @property
    def ever_down(self) -> set[str]:
        rows = self.world.database.connection.execute(
            "SELECT host FROM health_event JOIN endpoint ON endpoint.id = endpoint_id WHERE after = 'down'"
        )
        return {host for (host,) in rows}

    @property
    def health(self) -> dict[str, str]:
        return dict(self.world.database.connection.execute("SELECT host, health FROM endpoint").fetchall())


def held(web: Web) -> list[str]:
    """Return the lines of histories that tell of held failures."""
    with web.world.reading() as reading:
        numbers = range(1, len(web.hosts) + 1)
        histories = [each for number in numbers for each in history_of_service(reading, number, web.world.clock.now())]
    assert len(histories) == len(web.hosts)
    return [line for each in histories for line in history_lines(each) if line.startswith("  held: ")]


def split(host: str) -> Verdict:
    """A gateway that sends some to its login page and cuts off others, as it cannot answer for a safe connection."""
    return login(host) if "s0" in host else verdict("reset", http_status=None)


def by_filter(host: str) -> Verdict:
    said = "HTTP 403, a filter (fortinet: fortiguard)"
    return replace(verdict("http-403", http_status=403), status=Status.INVALID, filter=said)


def hosts(count: int) -> list[str]:
    return [f"maps.s{number}.example" for number in range(count)]


@pytest.mark.parametrize(("count", "first_day"), [(2, 0.0), (12, 3.0)])
@pytest.mark.parametrize(
    "seen",
    (login, to_filter, lambda host: verdict("timeout-connect", http_status=None), split, by_filter),
    ids=("login", "redirect", "off", "split", "filter"),
)
def test_services_behind_a_network_that_answers_for_all_are_never_told_dead(
    tmp_path: Path, seen: Callable[[str], Verdict], first_day: float, count: int
) -> None:
    web = Web(tmp_path / "c.db", hosts(count))
    web.live(8, lambda host, day: seen(host) if first_day <= day < first_day + 3 else None)
    assert web.ever_down == set() and set(web.health.values()) == {"alive"}
    assert any(web.told) and not web.told[-1], "it is told, and that it is over"


def test_one_that_is_watched_in_minutes_is_not_told_dead_before_another_was_asked(tmp_path: Path) -> None:
    web = Web(tmp_path / "c.db", hosts(2))
    web.world.database.connection.execute("UPDATE endpoint SET every_s = 60, due_at = last_ok + 60 WHERE id = 1")
    web.live(0.05, lambda host, day: login(host) if 0.02 < day < 0.04 else None, step_s=60)
    assert web.ever_down == set() and any(web.told) and not web.told[-1]
    web.live(0.01, lambda host, day: page("<title>Gone</title>") if host == web.hosts[0] else None, step_s=60)
    assert web.ever_down == {web.hosts[0]}


@pytest.mark.parametrize(("seen", "away_h"), [(login, 30), (split, 80)], ids=("login", "split"))
def test_failures_are_held_over_days_in_which_nobody_looks(
    tmp_path: Path, seen: Callable[[str], Verdict], away_h: float
) -> None:
    """As on a machine that is switched on for some hours, behind the same login page each time."""
    web = Web(tmp_path / "c.db", hosts(3))
    for _ in range(8):
        web.world.clock.time += away_h * HOUR_S
        web.live(0.2, lambda host, day: seen(host))
    assert web.ever_down == set()
    web.live(3, lambda host, day: None)
    assert web.ever_down == set() and set(web.health.values()) == {"alive"}


def test_a_service_that_died_is_told_down_by_looks_that_are_days_apart(tmp_path: Path) -> None:
    web = Web(tmp_path / "c.db", hosts(3))
    for _ in range(8):
        web.world.clock.time += 30 * HOUR_S
        web.live(0.2, lambda host, day: page("<title>Gone</title>") if host in web.hosts[:2] else None)
    assert web.ever_down == set(web.hosts[:2])


def test_what_is_held_survives_a_restart_and_is_no_failure(engine_url: str) -> None:
    web = Web(engine_url, hosts(3))
    web.live(2, lambda host, day: page("<title>Blocked by the provider</title>"))
    connection = web.world.database.connection
    (finding,) = web.findings
    assert "for 3 hosts" in finding.sentence and "Blocked by the provider" in finding.sentence
    kept = connection.execute("SELECT status, reason, count(*) FROM probe GROUP BY 1, 2 ORDER BY 3").fetchall()
    assert ("invalid", "html", 1) in kept, "the first one alone, of which no other was known"
    assert connection.execute("SELECT count(*) FROM endpoint WHERE reason = 'network'").fetchone()[0] == 2
    assert len(held(web)) == 3


def test_hosts_parked_at_one_registrar_are_told_dead_within_three_days(tmp_path: Path) -> None:
    parked = hosts(200)
    web = Web(tmp_path / "c.db", [*parked, "well.example", "better.example"])
    web.live(3, lambda host, day: page(PARKED) if host in parked else None)
    assert web.ever_down == set(parked)
    assert {web.health["well.example"], web.health["better.example"]} == {"alive"}


def test_two_sites_that_filter_us_by_themselves_are_no_network_beside_one_that_is_well(tmp_path: Path) -> None:
    web = Web(tmp_path / "c.db", hosts(4))
    behind = web.hosts[:2]
    web.live(5, lambda host, day: by_filter(host) if host in behind else None)
    assert not any(web.told) and [web.health[host] for host in behind] == ["unconfirmed"] * 2


def test_services_that_die_in_different_ways_are_told_down_beside_one_that_is_well(tmp_path: Path) -> None:
    web = Web(tmp_path / "c.db", hosts(3))
    dead = {web.hosts[0]: "html", web.hosts[1]: "reset"}
    web.live(3, lambda host, day: verdict(dead[host]) if host in dead else None)
    assert web.ever_down == set(dead) and not web.told[-1]


def test_a_provider_that_is_down_with_all_its_hosts_has_one_vote(tmp_path: Path) -> None:
    provider = [f"h{number}.provider.example" for number in range(10)]
    web = Web(tmp_path / "c.db", [*provider, "well.example"])
    web.live(2, lambda host, day: verdict("http-503", http_status=503) if host in provider else None)
    assert web.ever_down == set(provider) and not any(web.told) and not held(web)


def test_customers_of_one_network_with_the_same_page_are_told_down_while_others_are_well(tmp_path: Path) -> None:
    customers = hosts(10)
    web = Web(tmp_path / "c.db", [*customers, "well.example"])
    web.live(3, lambda host, day: page("<title>503 at the edge</title>") if host in customers else None)
    assert web.ever_down == set(customers) and not web.told[-1]


@pytest.mark.parametrize("reason", ("http-404", "html", "exception", "timeout-read"))
def test_a_service_that_fails_by_itself_is_told_down_at_its_usual_pace(tmp_path: Path, reason: str) -> None:
    web = Web(tmp_path / "c.db", hosts(5))
    dead = web.hosts[0]
    web.live(2, lambda host, day: verdict(reason, first_bytes="gone") if host == dead else None)
    assert web.ever_down == {dead} and not any(web.told)


def test_a_service_that_asked_for_patience_is_no_control(tmp_path: Path) -> None:
    """Its host would be asked before the time that it named."""
    web = Web(tmp_path / "c.db", hosts(3))
    asked_at = list[float]()

    def behaviour(host: str, day: float) -> Verdict | None:
        if host == web.hosts[0]:
            asked_at.append(day * DAY_S)
            return verdict("http-429", http_status=429, retry_after_s=5 * HOUR_S)
        return page(f"<title>Gone from {host}</title>")

    web.live(8, behaviour)
    waits = [after - before for before, after in pairwise(asked_at)]
    assert len(waits) > 5 and min(waits) >= 5 * HOUR_S
