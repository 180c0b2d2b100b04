"""A server's database that cannot be used: every command says why in one line, without user and password, and ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from geocrawl.store.database.postgres import opening
from geocrawl.store.database.postgres.connection import PostgresConnection
from geocrawl.urls.database import server_of
from tests.mining.made_index import write_part
from tests.support.commands import geocrawl
from tests.support.places import ROOT
from tests.support.postgres import Server

_USER, _PASSWORD = "ingeborg", "hunter2"
_PAGE = "https://a.example/"
_ARGUMENTS: dict[str, list[str]] = {
    **{"backup": ["copy.db"], "restore": ["copy.db"], "crawl": [_PAGE], "forget": ["a.example", "--reason", "x"]},
    **{"harvest": [_PAGE], "history": ["1"], "merge": ["1", "2"], "split": ["1", "2"], "mine": ["index"]},
    **{"publish": ["--out", "site"], "pages export": ["--out", "p.warc"]},
    **{"pages show": [_PAGE], "probe": [_PAGE, "--save"]},
    **{
        "release": ["a.example"],
        "snapshot": ["--out", "s"],
        "report": ["--month", "2026-10"],
        "search": ["roads"],
        "seeds add": [_PAGE],
    },
    **{"seeds check": ["--stored"], "seeds remove": [_PAGE], "show": ["1"], "train bayes": ["--out", "b"]},
    **{"watch add": ["roads", "--to", "file:out.jsonl"], "watch remove": ["1"], "why": [_PAGE], "watch ack": ["1"]},
    "watch import": ["list.txt"],
}
_OTHERS = frozenset({"config show", "identify", "check-list", "doctor"})
"""Commands with `--db` that open no database or do without: `identify` and `check-list` only share delays, and
`doctor` looks at more."""
_FILES_ALONE = frozenset({"backup", "restore"})


def _commands() -> list[str]:
    options = json.loads((ROOT / "tests/expectations/command_options.json").read_text("utf-8"))
    return [name for name, each in options.items() if "--db" in each and name not in _OTHERS]


def _otherwise(url: str, code: int, expected: str, commands: Sequence[str]) -> list[tuple[object, ...]]:
    """Return how those commands end that do not say `expected` in one line and end with `code`."""
    found = list[tuple[object, ...]]()
    for command in commands:
        said = geocrawl(*command.split(), *_ARGUMENTS.get(command, []), "--db", url)
        lines = [*said.err.splitlines(), *said.out.splitlines()]  # `check` prints to what reads it
        secret = any(each in line for line in lines for each in (_PASSWORD, _USER))
        if len(lines) != 1 or expected not in lines[0] or said.code != code or secret:
            found.append((command, *said))
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with an index to be mined, and a server that is no server's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEOCRAWL_CONTACT", "a@b.example")  # else crawls ask for one first
    write_part(tmp_path / "index", ["https://maps.example.org/wms"])
    (tmp_path / "copy.db").touch()
    (tmp_path / "list.txt").write_text("https://maps.example.org/wms")
    return tmp_path


@pytest.fixture
def role(postgres_server: Server) -> Iterator[str]:
    """A role without any right."""
    postgres_server.command(f"CREATE ROLE {_USER} LOGIN")
    yield _USER
    postgres_server.command(f"DROP ROLE {_USER}")


def test_a_server_that_cannot_be_reached(place: Path) -> None:
    url = f"postgresql://{_USER}:{_PASSWORD}@127.0.0.1:1/catalogue"
    commands = [each for each in _commands() if each not in {*_FILES_ALONE, "daemon"}]  # the daemon waits without limit
    assert _otherwise(url, 3, "postgresql://127.0.0.1:1/catalogue: cannot be reached: ", commands) == []
    assert _otherwise(url, 2, "is for SQLite's files alone", sorted(_FILES_ALONE)) == []


def test_the_doctor_tells_of_such_a_server_and_looks_further(place: Path) -> None:
    said = geocrawl("doctor", "--db", f"postgresql://{_USER}:{_PASSWORD}@127.0.0.1:1/catalogue")
    told = [line for line in said.out.splitlines() if line.startswith("TO DO  database")]
    assert said.code == 1 and "cannot be reached" in told[0] and len(said.out.splitlines()) > 3
    assert _PASSWORD not in said.out and _USER not in said.out


@pytest.mark.parametrize("fault", ["no database", "no rights", "old server", "newer schema"])
def test_a_database_that_cannot_be_used(
    place: Path, postgres_server: Server, role: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, expected = postgres_server.new_catalogue(), f"geocrawl needs {opening.OLDEST_SERVER + 84} or later"
    if fault == "no database":
        url, expected = postgres_server.url("nothing_there"), "the server has no such database"
    elif fault == "old server":
        monkeypatch.setattr(opening, "OLDEST_SERVER", opening.OLDEST_SERVER + 84)
    elif fault == "no rights":
        url, expected = url.replace("//geocrawl@", f"//{role}:{_PASSWORD}@"), "lacks a right"
    else:
        connection = PostgresConnection(server_of(url))
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()
        expected = "was written by a newer geocrawl"
    assert _otherwise(url, 3, expected, [each for each in _commands() if each not in _FILES_ALONE]) == []


def test_a_mistyped_url(place: Path) -> None:
    for url in (f"postgresql://{_USER}:{_PASSWORD}@127.0.0.1:x/c", f"postgresql://{_USER}:{_PASSWORD}@h/"):
        assert _otherwise(url, 2, "postgresql://", [each for each in _commands() if each != "check"]) == []
        assert _otherwise(url, 3, "GEOCRAWL UNKNOWN - --db postgresql://", ["check"]) == []
