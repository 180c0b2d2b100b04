"""`geocrawl strategies` as people type it."""

from __future__ import annotations

import json
import subprocess
import sys

from geocrawl.priority.registry import strategies, strategy_options


def geocrawl(*arguments: str) -> str:
    command = [sys.executable, "-m", "geocrawl", "strategies", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_strategy_is_listed_with_a_line_and_its_settings() -> None:
    text = geocrawl()
    for name, line in strategies().items():
        assert name in text and line in text
        for option in strategy_options(name):
            assert f"{name}.{option}" in text


def test_as_json_a_program_reads_names_and_defaults() -> None:
    listed = {each["name"]: each for each in json.loads(geocrawl("--json"))}
    assert list(listed) == list(strategies())
    defaults = {each["name"]: each["default"] for each in listed["gws"]["settings"]}
    assert (defaults["gws.lambda"], defaults["gws.drop_zero"]) == (0.7, False)
    assert listed["bfs"]["settings"] == []
