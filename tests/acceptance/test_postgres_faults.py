"""Faults between workers and a server of PostgreSQL leave no trace in the catalogue."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.acceptance.postgres_workers import Field, field_of, undisturbed
from tests.support.daemons import wait_for
from tests.support.postgres import Server

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(900)]

Catalogue = set[tuple[str, ...]]


@pytest.fixture(scope="module")
def calm(postgres_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """The catalogue of a crawl to which nothing happens."""
    return undisturbed(postgres_server, tmp_path_factory.mktemp("calm"))


@contextmanager
def crawled_whole(server: Server, folder: Path, calm: Catalogue) -> Iterator[tuple[Field, set[str]]]:
    """Yield a field for a fault and a set for what was settled before; afterwards the crawl must come to its end.

    Nothing settled may be lost, no host asked by two at once, and the catalogue is that of an undisturbed crawl.
    """
    with field_of(server, folder) as field:
        before = set[str]()
        yield field, before
        codes = [each.ends() for each in field.workers]
        failed = [each.log for each, code in zip(field.workers, codes, strict=True) if code not in (0, -signal.SIGKILL)]
        assert failed == []
        assert len(before) > 8 and before <= field.settled()
        assert field.most_at_once() == 1
        assert field.catalogue() == calm


def test_workers_that_are_killed_are_replaced(postgres_server: Server, tmp_path: Path, calm: Catalogue) -> None:
    with crawled_whole(postgres_server, tmp_path / "work", calm) as (field, before):
        workers = [field.worker(), field.worker()]
        for number in range(3):
            before |= field.under_way(9 + 8 * number)
            workers[0].kill()
            workers = [workers[1], field.worker()]
            field.goes_on()


def test_workers_wait_for_a_server_that_was_killed(postgres_server: Server, tmp_path: Path, calm: Catalogue) -> None:
    with crawled_whole(postgres_server, tmp_path / "work", calm) as (field, before):
        workers = [field.worker(), field.worker()]
        before |= field.under_way()
        postgres_server.kill()
        time.sleep(5.0)
        postgres_server.start()
        field.goes_on()
        assert any("waiting for the database" in each.log for each in workers)


def test_a_worker_that_slept_until_others_had_its_hosts_asks_none_of_them(
    postgres_server: Server, tmp_path: Path, calm: Catalogue
) -> None:
    with crawled_whole(postgres_server, tmp_path / "work", calm) as (field, before):
        late, _ = field.worker(lease="2"), field.worker(lease="2")
        for number in range(3):
            before |= field.under_way(9 + 8 * number)
            late.send(signal.SIGSTOP)
            time.sleep(4)
            before |= field.settled()
            late.send(signal.SIGCONT)
        field.goes_on()


def test_workers_wait_for_a_free_connection(postgres_server: Server, tmp_path: Path, calm: Catalogue) -> None:
    with crawled_whole(postgres_server, tmp_path / "work", calm) as (field, before):
        worker = field.worker()
        before |= field.under_way()
        others = _take_all_connections(field)
        late = field.worker()
        wait_for(lambda: all("no connection left" in each.log for each in (late, worker)), "the line", 60)
        for each in others:
            each.close()
        field.goes_on()


def test_a_crawl_goes_on_in_a_restored_dump(postgres_server: Server, tmp_path: Path, calm: Catalogue) -> None:
    with crawled_whole(postgres_server, tmp_path / "work", calm) as (field, before):
        workers = [field.worker(), field.worker()]
        field.under_way()
        dump = postgres_server.dump(field.url, "crawl.dump")
        field.under_way(len(field.settled()) + 6)
        for each in workers:
            each.kill()
        restored = postgres_server.restored(dump)
        before |= field.settled(restored)
        lost_url, field.url = field.url, restored
        postgres_server.drop(lost_url)
        requests = len(field.web.requests)
        field.worker(), field.worker()
        field.goes_on()
        wait_for(lambda: all(each.process.poll() is not None for each in field.workers), "the end of the crawl")
        assert not {each.url for each in field.web.requests[requests:]} & before


def _take_all_connections(field: Field) -> list[psycopg.Connection[Any]]:
    """Take all connections of the server, those of the workers included."""
    workers = "FROM pg_stat_activity WHERE application_name = 'geocrawl'"
    first = psycopg.connect(field.server.url("postgres"), autocommit=True)
    taken = [first]
    while first.execute(f"SELECT pg_terminate_backend(pid) {workers}").fetchall() or len(taken) == 1:
        with suppress(psycopg.OperationalError):  # a worker that was quicker is looked for again
            while True:
                taken.append(psycopg.connect(field.url))
    return taken
