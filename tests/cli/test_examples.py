"""Every command line of the documentation is one that the program takes: command, options, kinds of values.

`tests/web/test_example_commands.py` runs them.
"""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import typer

from geocrawl.cli import app
from geocrawl.config import check
from tests.cli.test_registry import _walk
from tests.support.examples import PAGES, example_lines
from tests.support.places import ROOT


@cache
def _commands() -> dict[str, Any]:
    return dict(_walk(typer.main.get_command(app), ""))


def _refused(words: list[str]) -> str:
    """Return why the program would not take a line, read as it reads one up to where the command begins; '' if it
    would."""
    name = next((name for name in (" ".join(words[:2]), words[0]) if name in _commands()), "")
    if not name:
        return "no such command"
    try:
        _commands()[name].make_context(name, words[len(name.split()) :])
    except Exception as error:  # Click's, or Typer's own of the same names
        return str(getattr(error, "message", error))
    return ""


def test_every_example_is_a_command_that_geocrawl_takes() -> None:
    lines = dict.fromkeys(line for page in PAGES for line in example_lines(page))
    assert len(lines) > 100
    told = {line: _refused(shlex.split(line)) for line in lines}
    assert {line: why for line, why in told.items() if why} == {}


def test_the_example_of_a_configuration_has_no_problem(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.+?)^```", (ROOT / "docs/settings.md").read_text("utf-8"), re.M | re.S)
    file = tmp_path / "geocrawl.toml"
    file.write_text(example, "utf-8")
    file.chmod(0o600)  # it has passwords
    assert check({}, environ={}, cwd=tmp_path, files=[file])[0] == []


def test_an_assistant_starts_a_command_that_geocrawl_takes() -> None:
    (example,) = re.findall(r"^ {4}\{\n(?: {4}.*\n)+? {4}\}$", (ROOT / "docs/assistants.md").read_text("utf-8"), re.M)
    server = json.loads(example)["mcpServers"]["geocrawl"]
    assert server["command"] == "geocrawl" and _refused(server["args"]) == ""


def test_an_option_of_former_days_is_refused() -> None:
    assert "--plots" in _refused(["stats", "--plots"]) and _refused(["failures"]) == "no such command"
