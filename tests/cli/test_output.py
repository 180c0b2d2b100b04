"""What commands print: tables into a pipe, progress, explanations."""

from __future__ import annotations

import json
import re
import socket
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

from geocrawl.cli import app, output
from geocrawl.cli.output import echo_json, print_table
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.cli.show import _change, _value
from geocrawl.errors import described
from geocrawl.fetch.failures import classify
from geocrawl.fetch.network import ConnectFailed
from geocrawl.model import FailureCode
from geocrawl.sanitize import ending_of, masked
from tests.cli.test_registry import _walk


def test_a_table_into_a_pipe_is_whole_and_separated_by_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    address = "https://a.example/" + "x" * 500
    output.print_table(("id", "ok", "title", "address"), [(1200, True, "a\tb", address), (3, None, (), "")])
    assert capsys.readouterr().out == f"id\tok\ttitle\taddress\n1200\tyes\ta b\t{address}\n3\t-\t-\t\n"


def test_the_table_of_settings_has_one_line_a_setting() -> None:
    lines = CliRunner().invoke(app, ["config", "show"]).output.splitlines()
    assert {line.count("\t") for line in lines} == {4}
    assert not [line for line in lines if "\t()\t" in line]


def test_progress_is_logged_although_nothing_is_settled(capsys: pytest.CaptureFixture[str]) -> None:
    observer = LogObserver(log_to(json_lines=True))
    observer.tick()
    assert capsys.readouterr().err == ""
    observer._next = time.monotonic() - 2
    observer.tick()
    observer.tick()
    (line,) = capsys.readouterr().err.splitlines()
    assert (json.loads(line)["event"], json.loads(line)["pages"]) == ("progress", 0)


def test_features_are_explained_in_words() -> None:
    assert _value({"anchor": 0.25, "words": ()}) == "anchor=0.25 words=none"


def test_a_service_that_was_found_is_new_and_not_changed() -> None:
    row = {"what": "health", "name": "first-probe", "before": "new", "after": "alive"}
    assert (_change(row), _change(row | {"after": "down"})) == ("new", "new, down")


@pytest.mark.parametrize("text", ["<a>" * 40 + "é=", ("<a>" * 40 + "é=").encode()])
def test_the_end_of_a_document_is_quoted_as_text(text: str | bytes) -> None:
    assert ending_of(text).endswith("<a>é=”")


def test_help_joins_the_lines_of_a_paragraph_and_groups_commands() -> None:
    text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"}).output
    assert "Use the catalogue" in text
    text = CliRunner().invoke(app, ["probe", "--help"], env={"COLUMNS": "300"}).output
    assert "that work on it; without --save it " in text


def test_help_cuts_no_option_and_keeps_every_default() -> None:
    for name, command in _walk(typer.main.get_command(app), ""):
        runner = CliRunner()
        usual, wide = (
            runner.invoke(app, [*name.split(), "--help"], env={"COLUMNS": columns}).output for columns in ("80", "2000")
        )
        for each in command.params:
            names = each.opts if each.param_type_name == "option" else []
            assert [option for option in names if option not in usual] == [], name
            for default in re.findall(r"\[[^\]]*\]", (getattr(each, "help", "") or "").replace("\\[", "[")):
                assert default in wide, (name, default)
        assert "<bool>" not in wide, name


def test_the_examples_of_addresses_fit_into_the_help_of_a_terminal() -> None:
    for name, _ in _walk(typer.main.get_command(app), ""):
        shown = CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "80"}).output
        assert masked(shown) == shown, name  # an address that is cut would be masked as a whole


def test_exceptions_are_described_without_names_of_classes() -> None:
    class HostUnreachableError(Exception):
        pass

    unknown = socket.gaierror(-2, "Name or service not known")
    dns = ConnectFailed("nowhere.example", 443, unknown)
    dns.__cause__ = unknown
    assert classify(dns) == (FailureCode.DNS, "nowhere.example:443: Name or service not known")
    assert described(HostUnreachableError()) == "host unreachable"
    assert described(KeyError("html")) == "html is missing"
    assert "object" not in described(TypeError("'str' object is not a mapping"))
    assert described(TimeoutError()) == "timeout"


@pytest.mark.parametrize("width", [40, 80])
def test_addresses_are_whole_on_a_narrow_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    address = "https://maps.example.org/cgi-bin/mapserv?map=/srv/maps/a-name-that-is-long-enough-for-any-line.map"
    print_table(("id", "title", "address"), [(1, "Rivers", address), (2, "Roads", "https://b.example/")])
    assert capsys.readouterr().out.splitlines() == [
        "id 1  title Rivers",
        f"    {address}",
        "id 2  title Roads",
        "    https://b.example/",
    ]


@pytest.mark.parametrize(("width", "lines"), [(40, 1), (100, 3)])
def test_words_are_whole_on_a_narrow_terminal(
    width: int, lines: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(("id", "watched", "to", "waiting"), [(1, "search 'rivers'", "file:/srv/geocrawl/alerts.txt", 0)])
    printed = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert len(printed) == lines
    assert all(word in " ".join(printed) for word in ("search 'rivers'", "file:/srv/geocrawl/alerts.txt", "waiting"))


def test_times_in_json_are_iso_8601(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"at": 1.7e9, "due_at": None, "events": ({"since": 1.7e9 + 0.5, "reason": "ok"},), "elapsed_s": 1.7e9}]
    echo_json(rows)
    written = "2023-11-14T22:13:20Z"
    assert json.loads(capsys.readouterr().out) == [
        {"at": written, "due_at": None, "events": [{"since": written, "reason": "ok"}], "elapsed_s": 1.7e9}
    ]
