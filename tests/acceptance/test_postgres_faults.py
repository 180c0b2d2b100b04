"""Faults between workers and PostgreSQL of which the catalogue shows nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance import postgres_faults as postgres
from tests.acceptance.postgres_workers import undisturbed
from tests.daemon.faults.row import Row
from tests.support.postgres import Server

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(900)]

Catalogue = set[tuple[str, ...]]


@pytest.fixture(scope="module")
def calm(postgres_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """The catalogue of a crawl to which nothing happens."""
    return undisturbed(postgres_server, tmp_path_factory.mktemp("calm"))


@pytest.mark.parametrize("cause", [postgres.late_worker, postgres.restored_backup], ids=lambda cause: cause.__name__)
def test_nothing_settled_is_lost_and_no_host_is_asked_by_two(
    cause: Callable[[Server, Path, Catalogue], Row], postgres_server: Server, tmp_path: Path, calm: Catalogue
) -> None:
    row = cause(postgres_server, tmp_path / "work", calm)
    assert row.lost == 0 and row.more["settled_before"] > 8
    assert row.more["catalogue"] == "that of an undisturbed crawl"
    assert row.more["most_requests_of_a_host_at_once"] == 1
    assert row.more.get("settled_in_the_dump_and_asked_again", 0) == 0
