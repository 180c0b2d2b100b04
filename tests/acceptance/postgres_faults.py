"""Faults between workers and a server of PostgreSQL, a row of the fault table each."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.acceptance.postgres_workers import Field, field_of
from tests.daemon.faults.row import Row
from tests.store.tcp_relay import TcpRelay
from tests.support.daemons import wait_for
from tests.support.postgres import Server

Catalogue = set[tuple[str, ...]]
"""The services that an undisturbed crawl finds."""


def worker_killed(server: Server, folder: Path, calm: Catalogue, kills: int = 5) -> Row:
    """Workers are killed, each while another one works, and a new one takes its place."""
    with field_of(server, folder) as field:
        workers, before, slowest = [field.worker(), field.worker()], set[str](), 0.0
        for number in range(kills):
            before |= field.under_way(8 + 8 * number)
            workers[0].kill()
            workers = [workers[1], field.worker()]
            slowest = max(slowest, field.goes_on())
        return _row(
            field, calm, "a worker is killed", f"kill -9, {kills} times in one crawl", before, slowest, {"kills": kills}
        )


def learner_killed(server: Server, folder: Path, calm: Catalogue, kills: int = 3) -> Row:
    """The worker that learns for all is killed, and another one takes over what it has learnt."""
    with field_of(server, folder) as field:
        field.worker(strategy="fusion"), field.worker(strategy="fusion")
        before, slowest = set[str](), 0.0
        for number in range(kills):
            before |= field.under_way(8 + 8 * number)
            wait_for(lambda: field.learner() is not None, "somebody to learn", 60)
            if learner := field.learner():
                learner.kill()
            slowest = max(slowest, round(wait_for(lambda: field.learner() is not None, "another one to learn", 60), 1))
            field.worker(strategy="fusion")
        more = {"kills": kills, "another_one_learns_after_s": slowest}
        recovered = field.goes_on()
        cause = f"kill -9 of the process that learns, {kills} times in one crawl with fusion"
        return _row(field, calm, "the learner is killed", cause, before, recovered, more)


def server_killed(server: Server, folder: Path, calm: Catalogue, seconds: float = 5.0) -> Row:
    """The server is killed under two workers, and started again."""
    with field_of(server, folder) as field:
        workers = [field.worker(), field.worker()]
        before = field.under_way()
        server.kill()
        time.sleep(seconds)
        server.start()
        recovered = field.goes_on()
        said = sum("waiting for the database" in each.log for each in workers)
        cause = f"kill -9 of the server's first process, started again after {seconds:g} s"
        return _row(field, calm, "the server is killed", cause, before, recovered, {"said_so": said})


def network_cut(server: Server, folder: Path, calm: Catalogue, seconds: float = 8.0) -> Row:
    """The connections of one worker are reset and refused for a while; another worker reaches the server."""
    with TcpRelay(server.socket) as relay, field_of(server, folder) as field:
        far, _ = field.worker(server.url_over_tcp(field.url, relay.port)), field.worker()
        before = field.under_way()
        relay.cut()
        meanwhile = _visits_meanwhile(field, seconds)
        relay.mend()
        recovered = field.goes_on()
        more = {"visits_of_the_other_meanwhile": meanwhile, "said_so": "waiting for the database" in far.log}
        cause = f"connections are reset, and new ones refused for {seconds:g} s, by a relay before one of two workers"
        return _row(field, calm, "the network is cut", cause, before, recovered, more)


def network_silent(server: Server, folder: Path, calm: Catalogue, seconds: float = 20.0) -> Row:
    """The connection of one worker stays open and passes nothing on for a while."""
    with TcpRelay(server.socket) as relay, field_of(server, folder) as field:
        field.worker(server.url_over_tcp(field.url, relay.port), delay="2"), field.worker(delay="2")
        before = field.under_way()
        relay.hold()
        meanwhile = _visits_meanwhile(field, seconds)
        relay.mend()
        recovered = field.goes_on()
        more = {"visits_of_the_other_meanwhile": meanwhile}
        cause = f"a relay holds all packets of one of two workers for {seconds:g} s, and its connections stay open"
        return _row(field, calm, "the network is silent", cause, before, recovered, more)


def half_open(server: Server, folder: Path, calm: Catalogue, times: int = 5) -> Row:
    """One worker's side of the connection is reset, and the server is not told: it may hold the turn to write."""
    with TcpRelay(server.socket) as relay, field_of(server, folder) as field:
        field.worker(server.url_over_tcp(field.url, relay.port)), field.worker()
        before, slowest = set[str](), 0.0
        for number in range(times):
            before |= field.under_way(8 + 8 * number)
            relay.lose_clients()
            slowest = max(slowest, field.goes_on())
        cause = f"the client's side is reset {times} times and the server's stays open, as when a machine crashes"
        return _row(field, calm, "a connection is half open", cause, before, slowest, {"times": times})


def late_worker(server: Server, folder: Path, calm: Catalogue, sleeps: int = 3) -> Row:
    """A worker sleeps until its leases have run out and others have its hosts, and wakes up."""
    with field_of(server, folder) as field:
        late, _ = field.worker(lease="2"), field.worker(lease="2")
        before = set[str]()
        for number in range(sleeps):
            before |= field.under_way(8 + 8 * number)
            late.send(signal.SIGSTOP)
            time.sleep(4)
            before |= field.settled()
            late.send(signal.SIGCONT)
        recovered = field.goes_on()
        cause = f"SIGSTOP for 4 s with leases of 2 s, then SIGCONT, {sleeps} times"
        return _row(field, calm, "a worker wakes up late", cause, before, recovered, {"sleeps": sleeps})


def no_connection_left(server: Server, folder: Path, calm: Catalogue, seconds: float = 8.0) -> Row:
    """Others take every connection of the server, and the workers' own are ended."""
    with field_of(server, folder) as field:
        worker = field.worker()
        before = field.under_way()
        others = _take_all(field)
        late = field.worker()
        wait_for(lambda: "no connection left" in late.log and "no connection left" in worker.log, "the line", 60)
        time.sleep(seconds)
        for each in others:
            each.close()
        recovered = field.goes_on()
        more = {"connections_taken": len(others), "said": _line(late.log, "no connection left")}
        cause = f"all of max_connections are taken for {seconds:g} s, and those of the worker ended"
        return _row(field, calm, "no connection is left", cause, before, recovered, more)


def open_snapshot(server: Server, folder: Path, calm: Catalogue) -> Row:
    """Another session keeps a transaction open, idle, for as long as the crawl lasts."""
    with field_of(server, folder) as field, psycopg.connect(field.url) as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        count = "SELECT count(*) FROM geocrawl.url"
        seen = other.execute(count).fetchone()
        field.worker(), field.worker()
        before = field.under_way()
        row = _row(field, calm, "a snapshot is left open", "a session that is idle in a transaction", before, 0.0, {})
        assert other.execute(count).fetchone() == seen
        other.rollback()
        return row


def restored_backup(server: Server, folder: Path, calm: Catalogue) -> Row:
    """A dump is taken amid a crawl; everything is lost later, and the crawl goes on in the restored dump."""
    with field_of(server, folder) as field:
        workers = [field.worker(), field.worker()]
        field.under_way()
        dump = server.dump(field.url, "crawl.dump")
        field.under_way(len(field.settled()) + 6)
        for each in workers:
            each.kill()
        after_dump = field.settled()
        restored = server.restored(dump)
        before = field.settled(restored)
        lost_url, field.url = field.url, restored
        server.drop(lost_url)
        requests = len(field.web.requests)
        workers = [field.worker(), field.worker()]
        recovered = field.goes_on()
        cause = "pg_dump amid a crawl of two workers, both killed later, pg_restore into a new database"
        row = _row(field, calm, "failover to a restored backup", cause, before, recovered, {})
        again = {each.url for each in field.web.requests[requests:]}
        row.more["settled_in_the_dump"] = len(before)
        row.more["settled_after_the_dump_and_asked_again"] = len(again & (after_dump - before))
        row.more["settled_in_the_dump_and_asked_again"] = len(again & before)
        return row


ROWS: tuple[Callable[[Server, Path, Catalogue], Row], ...] = (
    *(worker_killed, learner_killed, server_killed, network_cut, network_silent, half_open, late_worker),
    *(no_connection_left, open_snapshot, restored_backup),
)


def _row(
    field: Field, calm: Catalogue, fault: str, cause: str, before: set[str], recovered_s: float, more: dict[str, Any]
) -> Row:
    """Let the crawl come to its end, and return what became of it."""
    codes = [each.ends() for each in field.workers]
    lasting = [each.log for each, code in zip(field.workers, codes, strict=True) if code not in (0, -signal.SIGKILL)]
    if lasting:
        raise SystemExit(f"{fault}: {lasting[0][-2000:]}")
    found = {
        "most_requests_of_a_host_at_once": field.most_at_once(),
        "catalogue": "that of an undisturbed crawl" if field.catalogue() == calm else "differs",
        "settled_before": len(before),
    }
    return Row(fault, cause, len(before - field.settled()), recovered_s, found | more)


def _visits_meanwhile(field: Field, seconds: float) -> int:
    before = field.settled()
    time.sleep(seconds)
    return len(field.settled() - before)


def _take_all(field: Field) -> list[psycopg.Connection[Any]]:
    """Take all connections of the server, those of the workers included."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'geocrawl'"
    taken = list[psycopg.Connection[Any]]()
    with psycopg.connect(field.server.url("postgres"), autocommit=True) as first:
        for _ in range(3):  # a worker may have taken its place again
            first.execute(end)
            try:
                while True:
                    taken.append(psycopg.connect(field.url))
            except psycopg.OperationalError:
                continue
    with suppress(psycopg.OperationalError):
        taken.append(psycopg.connect(field.url))
    return taken


def _line(log: str, part: str) -> str:
    return next(line.partition("postgresql://")[2].partition(": ")[2] for line in log.splitlines() if part in line)
