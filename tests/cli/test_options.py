"""Options that are made from the settings: what help shows of them, and what a command receives."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app
from geocrawl.cli.options import Overrides, settings_from, with_settings
from geocrawl.cli.probe import pages_allowed
from geocrawl.config import load
from geocrawl.config.names import settings_by_name
from geocrawl.errors import UsageError
from geocrawl.settings import Settings


def received(command: str, **typed: object) -> Overrides:
    """Return the overrides that a command of this name receives when these options are given, and no others."""
    seen: list[Overrides] = []

    def function(overrides: Overrides) -> None:
        seen.append(overrides)

    names = [name for name, setting in settings_by_name().items() if setting.is_option_of(command)]
    defaults = {name: False if isinstance(settings_by_name()[name].default, bool) else None for name in names}
    with_settings(function, command)(**defaults | typed)
    return seen[0]


def test_options_that_were_not_given_override_nothing() -> None:
    assert received("crawl") == {}


def test_a_switch_turns_its_setting_around() -> None:
    assert received("crawl", maps=True, quiet=True) == {"maps": False, "quiet": True}


def test_constants_arrive_as_a_mapping() -> None:
    assert received("crawl", set=["gws.lambda=0.7", " a.b = c "]) == {"set": {"gws.lambda": "0.7", "a.b": "c"}}


def test_a_setting_is_an_option_of_its_commands_alone() -> None:
    with pytest.raises(TypeError, match="max_pages"):
        received("status", max_pages=3)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("crawl", ["[1s]", "[1000]", "[no limit]", "[any]", "fusion]", "WMS]"]),
        ("harvest", ["[200]", "[no limit]"]),
        ("status", ["[geocrawl.db in the user's data folder]"]),
    ],
)
def test_help_shows_defaults_in_brackets(command: str, shown: list[str]) -> None:
    text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "300"}).output
    assert [each for each in shown if each not in text] == []


def test_a_wrong_value_is_reported_under_the_name_that_was_typed() -> None:
    with pytest.raises(UsageError, match=r"^--max-pages = -1: expected a number of pages, 0 or more"):
        settings_from({"max_records_pages": -1})


@pytest.mark.parametrize("command", [("search",), ("export",), ("watch", "add", "--to", "file:a.txt")])
def test_a_query_that_looks_like_an_option_gets_advice(command: tuple[str, ...]) -> None:
    refused = CliRunner().invoke(app, [*command, "-kind:csw"], env={"COLUMNS": "200"})
    assert refused.exit_code == 2
    assert "Write words that begin with - last, after --: " in refused.output
    assert "after --" not in CliRunner().invoke(app, [*command, "--kinds"], env={"COLUMNS": "200"}).output


@pytest.mark.parametrize(("environ", "pages"), [({}, 0), ({"GEOCRAWL_MAX_PAGES": "1000"}, 1000)])
def test_a_harvest_heeds_a_limit_of_pages_that_a_person_set_even_to_the_default(
    environ: dict[str, str], pages: int, tmp_path: Path
) -> None:
    assert Settings().max_pages == 1000
    assert pages_allowed(load(environ=environ, cwd=tmp_path, files=[])) == pages
