"""What people choose of every command: its format, the number of rows, a configuration file, a log file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from geocrawl.cli import app
from geocrawl.cli.options import configuration_from
from geocrawl.errors import NothingFound, UsageError
from geocrawl.model import Kind, Layer, Service
from tests.cli.test_registry import _walk
from tests.support.world import World, candidate, verdict

RIVERS = Service(
    Kind.WMS, version="1.3.0", title="Rivers", layers=(Layer("rivers", "Rivers", crs=("EPSG:25832", "CRS:84")),)
)


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("catalogue") / "c.db"
    world = World(path)
    for number in range(3):
        world.record(candidate(f"{number}.example/wms?service=WMS"), verdict("ok", RIVERS), world.clock.now())
    world.database.close()
    return path


def run(catalogue: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--db", str(catalogue)])


def test_search_has_every_format_and_times_as_an_export(catalogue: Path) -> None:
    rows = json.loads(run(catalogue, "search", "--json").stdout)
    assert [json.loads(line) for line in run(catalogue, "search", "--format", "jsonl").stdout.splitlines()] == rows
    assert rows == json.loads(run(catalogue, "search", "--format", "json").stdout)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", rows[0]["last_ok"])
    exported = json.loads(run(catalogue, "export", "--json").stdout.splitlines()[0])
    assert exported["last_ok"] == rows[0]["last_ok"]
    assert rows[0]["last_ok"] in run(catalogue, "search", "--format", "csv").stdout
    assert isinstance(run(catalogue, "search", "--json", "--format", "csv").exception, UsageError)


def test_a_command_with_json_has_jsonl_too(catalogue: Path) -> None:
    lines = run(catalogue, "stats", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["services"] for line in lines] == [3]
    assert "expected table, json or jsonl" in str(run(catalogue, "stats", "--format", "xml").exception)


def test_a_table_says_how_many_rows_it_leaves_out(catalogue: Path) -> None:
    assert run(catalogue, "search", "--limit", "2").stderr == "2 of 3; --limit N prints more\n"
    assert run(catalogue, "search", "--limit", "3").stderr == ""
    assert run(catalogue, "search", "rivers", "--limit", "1").stderr.startswith("1 of 3;")


def test_a_reference_system_that_no_layer_has_is_named(catalogue: Path) -> None:
    assert run(catalogue, "search", "--crs", "epsg:25832").exit_code == 0
    done = run(catalogue, "search", "--crs", "99999")
    assert (done.exit_code, done.stderr) == (1, "No layer in the catalogue is offered in EPSG:99999.\n")
    assert run(catalogue, "search", "geology", "--crs", "25832").stderr == "No service matches.\n"


def test_stats_alone_counts_each_kind(catalogue: Path) -> None:
    lines = run(catalogue, "stats").stdout.splitlines()
    assert lines == ["kind\tservices\talive\tdelivers\tlayers", "wms\t3\t3\t0\t3"]


@pytest.mark.parametrize("command", [("show", "99"), ("merge", "99", "1"), ("history", "99")])
def test_a_service_that_is_not_there_is_one_code_everywhere(catalogue: Path, command: Sequence[str]) -> None:
    done = run(catalogue, *command)
    code = done.exception.exit_code if isinstance(done.exception, NothingFound) else done.exit_code
    assert code == 1


def test_a_configuration_file_can_be_named(tmp_path: Path, catalogue: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text(f'db = "{catalogue}"\nmax_pages = 7\n')
    done = CliRunner().invoke(app, ["stats", "--config", str(file)])
    assert done.stdout.startswith("kind")
    assert configuration_from({"config": file, "max_depth": 2}).settings.max_pages == 7
    rows = json.loads(CliRunner().invoke(app, ["config", "show", "--config", str(file), "--json"]).stdout)
    assert {row["name"]: row["origin"] for row in rows}["max_pages"] == str(file)
    assert "no such file" in str(CliRunner().invoke(app, ["stats", "--config", "missing.toml"]).exception)


def test_every_command_that_reads_settings_takes_a_configuration_file() -> None:
    options = {name: {each.name for each in command.params} for name, command in _walk(typer.main.get_command(app), "")}
    assert [name for name, names in options.items() if "db" in names and "config" not in names] == ["train bayes"]
    assert {name for name, names in options.items() if "config" in names} > {"crawl", "daemon", "status", "config show"}


def test_hosts_can_be_allowed_and_denied_for_one_crawl(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    arguments = ["crawl", "http://127.0.0.1:9/", "--deny", "127.0.0.1", "--deny", ".cn", "--db", path, "--json"]
    log = tmp_path / "crawl.log"
    done = CliRunner().invoke(app, [*arguments, "--log-file", str(log), "-v"])
    assert json.loads(done.stdout)["reasons"].keys() <= {"deny"}
    assert "seed not read" not in done.stderr
    assert "progress" in log.read_text() or "contact" in log.read_text() + done.stderr
