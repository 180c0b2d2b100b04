"""`geocrawl doctor` names what is wrong on a machine, and what to do."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from geocrawl.cli.doctor import Found, examine
from geocrawl.settings import Settings
from tests.support.commands import geocrawl
from tests.support.world import World, link


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


def found_of(settings: Settings, now: float) -> dict[str, Found]:
    return {each.what: each for each in examine(settings, now)}


def test_a_machine_without_a_catalogue_is_told_how_one_begins(tmp_path: Path) -> None:
    found = found_of(Settings(db=str(tmp_path / "c.db"), contact="me@example.org"), time.time())
    assert found["database"].good and "geocrawl crawl URL" in found["database"].said
    assert {"settings", "disk", "permissions", "names", "proxy", "unit"} <= found.keys() and "contact" not in found


def test_what_is_wrong_is_named_with_what_to_do(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed("a.example/")
    world.visit(link("b.example/"))
    visited_at = world.clock.time
    world.store.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    broken = Settings(db=str(tmp_path / "c.db"), proxy=f"http://127.0.0.1:{port}")
    found = found_of(broken, visited_at - 86_400)
    assert not found["clock"].good and "set the machine's clock" in found["clock"].said
    assert not found["proxy"].good and str(port) in found["proxy"].said
    assert not found["contact"].good and "set `contact`" in found["contact"].said
    assert found["database"].good and found_of(broken, visited_at + 60)["clock"].good


def test_a_file_that_is_no_catalogue_is_to_be_seen_to(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    path.write_text("no database at all, but long enough to look at " * 20)
    said = geocrawl("doctor", "--db", str(path), "--json")
    assert said.code == 1
    assert {each["what"]: each["good"] for each in json.loads(said.out)}["database"] is False
