"""`geocrawl strategies` as people type it."""

from __future__ import annotations

import json

from geocrawl.priority.registry import presets, strategies, strategy_options
from tests.support.commands import geocrawl


def test_every_strategy_is_listed_with_a_line_and_its_settings() -> None:
    text = geocrawl("strategies").out
    for name, line in strategies().items():
        assert name in text and line in text
        for option in strategy_options(name):
            assert f"{name}.{option}" in text


def test_as_json_a_program_reads_names_and_defaults() -> None:
    listed = {each["name"]: each for each in json.loads(geocrawl("strategies", "--json").out)}
    assert list(listed) == list(strategies())
    defaults = {each["name"]: each["default"] for each in listed["gws"]["settings"]}
    assert (defaults["gws.lambda"], defaults["gws.drop_zero"]) == (0.7, False)
    assert listed["bfs"]["settings"] == [] == listed["bfs"]["presets"]
    (paper,) = listed["gws"]["presets"]
    constants = {each["name"]: each for each in paper["constants"]}
    assert (paper["name"], constants["drop_zero"]["value"]) == ("gws:paper", True)
    assert constants["lambda"]["source"].startswith("eq. 4") and paper["differs"]


def test_every_preset_is_listed_with_every_constant_its_rule_and_where_ours_differs() -> None:
    text = geocrawl("strategies").out
    for name, preset in presets().items():
        assert f"{name}\t{preset.summary}" in text
        for option, constant in preset.constants.items():
            assert f"{name}.{option}\t" in text and constant.source in text and constant.ours in text
        assert all(f"{name}\t{sentence}" in text for sentence in preset.differs)
