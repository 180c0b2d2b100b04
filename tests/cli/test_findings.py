"""Findings name what is wrong on a machine and with a running system, and what to do."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app import findings as checks
from geocrawl.app.findings import Finding, Severity, check_status, worst
from geocrawl.cli.status import examine
from geocrawl.settings import Settings
from geocrawl.store.frontier.status import read_status
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from tests.support.commands import geocrawl
from tests.support.loopback import Handler, Server, running
from tests.support.world import World, link

NOW = 1_700_000_000.0


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


def findings_of(now: float, **overrides: object) -> dict[str, Finding]:
    return {finding.subject: finding for finding in examine(overrides, now)}


def test_a_machine_without_a_catalogue_is_told_how_one_begins(tmp_path: Path) -> None:
    findings = findings_of(time.time(), db=str(tmp_path / "c.db"), contact="me@example.org")
    assert not findings["database"].severity and "geocrawl crawl URL" in findings["database"].text
    assert {"settings", "disk", "permissions", "names", "proxy", "unit"} <= findings.keys()
    assert not findings["contact"].severity


def test_what_is_wrong_is_named_with_what_to_do(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed("a.example/")
    world.visit(link("b.example/"))
    visited_at = world.clock.time
    world.store.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    broken = {"db": str(tmp_path / "c.db"), "proxy": f"http://127.0.0.1:{port}"}
    findings = findings_of(visited_at - 86_400, **broken)
    assert findings["clock"].severity and findings["clock"].advice == "set the machine's clock"
    assert findings["proxy"].severity and str(port) in findings["proxy"].text
    assert findings["contact"].severity and "set `contact`" in findings["contact"].advice
    assert not findings["database"].severity and not findings_of(visited_at + 60, **broken)["clock"].severity


class Locked(Handler):
    """A proxy that answers whoever asks about itself, and opens tunnels for known users only."""

    def respond(self) -> None:
        """Never asked by GET."""

    def do_OPTIONS(self) -> None:
        """Answer about the proxy itself."""
        self.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.close_connection = True

    def do_CONNECT(self) -> None:
        """Refuse a tunnel."""
        status = b"502 Bad Gateway" if "Proxy-Authorization" in self.headers else b"407 Who are you"
        self.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.close_connection = True


def proxy_finding(address: str) -> Finding:
    return next(iter(checks._check_proxies(replace(Settings(), proxy=address), {})))


def test_a_proxy_that_wants_a_password_is_away_without_it(tmp_path: Path) -> None:
    with running(Server(Locked)) as server:
        place = f"127.0.0.1:{server.server_port}"
        without, with_one = proxy_finding(f"http://{place}"), proxy_finding(f"http://me:secret@{place}")
    assert without.severity is Severity.CRITICAL and place in without.text and "(407)" in without.text
    assert not with_one.severity and "secret" not in with_one.text


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_takes_connections_and_never_answers_is_away(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_CONNECT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = proxy_finding(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}")
    assert found.severity is Severity.CRITICAL and "does not answer (no answer in 0.2 s)" in found.text


def test_settings_that_cannot_be_read_do_not_hide_what_else_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOCRAWL_WORKERS", "many")
    monkeypatch.setenv("GEOCRAWL_DELAY", "soon")
    said = geocrawl("doctor", "--db", str(tmp_path / "c.db"), "--json")
    findings = json.loads(said.out)
    assert said.code == 1
    assert [finding["code"] for finding in findings if not finding["good"]] == ["settings-invalid"] * 2
    assert "unit" in {finding["subject"] for finding in findings}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, "daemon-good"),
        ({"daemon": None, "running": False}, "daemon-missing"),
        ({"running": False}, "daemon-killed"),
        ({"paused": True}, "daemon-paused"),
        ({"last_visit_at": None}, "visits-missing"),
        ({"last_visit_at": NOW - 7 * 3600}, "visits-silent"),
        ({"last_visit_at": NOW + 3600}, "clock-behind"),
        ({"due": 20_000}, "probes-late"),
        ({"watches_given_up": 1}, "watches-idle"),
    ],
)
def test_each_state_of_a_running_catalogue_has_its_finding(
    tmp_path: Path, change: dict[str, object], code: str
) -> None:
    world = World(tmp_path / "c.db")
    DaemonLock(world.database).acquire(NOW)
    good = {"running": True, "last_visit_at": NOW}
    status = replace(read_status(world.database.connection, NOW), **(good | change))  # type: ignore[arg-type]
    findings = list(check_status(status, tmp_path / "c.db", NOW))
    assert code in {finding.code for finding in findings}
    assert worst(findings).severity == Severity.OK if code == "daemon-good" else worst(findings).code == code


def test_a_daemon_that_waits_for_its_proxy_is_a_warning_that_names_it(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    lock = DaemonLock(world.database)
    lock.acquire(NOW)
    lock.beat(NOW, "waiting: The proxy http://127.0.0.1:3128 does not answer (refused)")
    status = replace(read_status(world.database.connection, NOW), running=True)
    found = next(check_status(status, tmp_path / "c.db", NOW))
    assert (found.code, found.severity) == ("daemon-waiting", Severity.WARNING)
    assert "waiting: The proxy http://127.0.0.1:3128 does not answer (refused)" in found.text


def test_a_catalogue_that_is_crawled_by_hand_needs_no_daemon(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    status = read_status(world.database.connection, NOW)
    assert worst(list(check_status(status, tmp_path / "c.db", NOW))).code == "daemon-missing"
    assert not worst(list(check_status(status, tmp_path / "c.db", NOW, needs_daemon=False))).severity


def test_a_file_that_is_not_a_catalogue_is_to_be_seen_to(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    path.write_text("no database at all, but long enough to look at " * 20)
    said = geocrawl("doctor", "--db", str(path), "--json")
    assert said.code == 1
    assert {finding["what"]: finding["good"] for finding in json.loads(said.out)}["database"] is False
