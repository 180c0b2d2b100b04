"""What an installation brings along: shell completion, the dashboard, and a message for what it leaves out."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def completed(line: str) -> list[str]:
    """Return what bash is offered for the last word of a line."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_GEOCRAWL_COMPLETE": "complete_bash"}
    return CliRunner().invoke(app, [], prog_name="geocrawl", env=words).stdout.split()


@pytest.mark.parametrize(
    ("shell", "said"), [("bash", "complete -o default -F"), ("zsh", "#compdef"), ("fish", "complete --command")]
)
def test_the_script_of_each_shell_is_printed(monkeypatch: pytest.MonkeyPatch, shell: str, said: str) -> None:
    monkeypatch.setenv("_GEOCRAWL_COMPLETE", f"source_{shell}")
    done = CliRunner().invoke(app, [], prog_name="geocrawl")
    assert said in done.stdout and "geocrawl" in done.stdout


def test_commands_and_options_are_completed() -> None:
    assert completed("geocrawl se") == ["search", "serve", "service", "seeds"]
    assert completed("geocrawl seeds ad") == ["add"]
    assert completed("geocrawl search --fo") == ["--format"]


def test_values_are_completed() -> None:
    assert completed("geocrawl search --kind w") == ["wms", "wfs", "wmts", "wcs", "wps", "wmsc"]
    assert completed("geocrawl export --format g") == ["geojson", "gpkg", "geoparquet"]
    assert completed("geocrawl probe --country DE,A")[:2] == ["DE,AD", "DE,AE"]
    assert "bfs" in completed("geocrawl crawl --strategy b")


def test_the_dashboard_is_printed() -> None:
    done = CliRunner().invoke(app, ["metrics", "--grafana"])
    assert json.loads(done.stdout)["panels"]


def test_every_strategy_and_preset_iterates_without_an_extra() -> None:
    """In a process that has neither SciPy nor matplotlib."""
    code = (
        "import sys; sys.modules['scipy'] = sys.modules['matplotlib'] = None\n"
        "from geocrawl.priority import link_graph\n"
        "from geocrawl.priority.registry import make_strategy, presets, strategies\n"
        "for name in (*strategies(), *presets()): make_strategy(name, {})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_what_a_crawl_does_without_is_an_extra() -> None:
    names = {each.partition(">")[0] for each in PROJECT["project"]["dependencies"]}
    assert not {"scipy", "matplotlib"} & names
    assert {each.partition(">")[0] for each in PROJECT["project"]["optional-dependencies"]["evaluate"]} == {
        "scipy",
        "matplotlib",
    }
