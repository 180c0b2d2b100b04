"""What commands print: tables into a pipe, progress, explanations."""

from __future__ import annotations

import io
import json
import re
import socket
import sys
import time

import pytest
import typer
from rich.cells import cell_len
from typer.testing import CliRunner

from geocrawl.cli import app, output
from geocrawl.cli.output import echo_json, print_table
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.cli.registry import TABLES
from geocrawl.cli.show import _change, _value
from geocrawl.config.names import settings_by_name
from geocrawl.errors import described
from geocrawl.fetch.failures import classify
from geocrawl.fetch.network import ConnectFailed
from geocrawl.model import FailureCode
from geocrawl.sanitize import ending_of, masked
from tests.cli.test_registry import _walk
from tests.support.commands import geocrawl


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


ADDRESS = "https://maps.example.org:8443/cgi-bin/mapserv?map=/srv/maps/a-name-that-is-too-long-for-any-line.map"
ROWS = [
    (1, "wms", "Rivers and lakes of the northern counties", None, 1_200, ADDRESS),
    (20, "wfs", "青山省水系地图服务" * 4, None, 3, "https://b.example/"),
]


def _printed(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for name, value in {"COLUMNS": str(width), "LINES": "60", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    print_table(("id", "kind", "title", "tls", "layers", "address"), ROWS, least=("layers", "kind"))
    return capsys.readouterr()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 300])
def test_a_table_stays_a_table_and_no_word_is_broken(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed, said = _printed(width, monkeypatch, capsys)
    lines = printed.splitlines()
    assert max(map(cell_len, lines)) <= width
    assert lines[0].startswith("id") and set(lines[1]) == {"─"}
    written = {word for row in ROWS for cell in row for word in str(cell).split()}
    words = {word for line in lines[2:] for word in line.split() if word.isascii() and word.isalpha()}
    assert words <= written and {"Rivers", "counties"} <= words
    assert [word[-3:] for word in printed.split() if word.startswith("http")] == ["map", "le/"]
    assert ("layers" in said) == ("layers" not in lines[0])


def test_columns_of_least_worth_go_first(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    heads = {}
    for width in (40, 52, 60, 200):
        printed, said = _printed(width, monkeypatch, capsys)
        heads[width] = printed.split("\n")[0].split(), said
    assert heads[200] == (["id", "kind", "title", "tls", "layers", "address"], "")
    shown = [set(names) for names, _ in heads.values()]
    assert shown == sorted(shown, key=len)
    assert shown[0] == {"id", "title", "address"}
    assert "kind, layers; --wide prints all" in heads[40][1]


def test_a_wide_table_is_whole_on_any_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.whole_rows(True):
        printed, said = _printed(40, monkeypatch, capsys)
    assert len(printed.splitlines()) == 4
    assert ADDRESS in printed and "青山省水系地图服务" * 4 in printed and "1,200" in printed and not said


@pytest.mark.parametrize("width", range(40, 130, 9))
def test_an_address_that_is_cut_at_its_port_is_not_masked(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed, _ = _printed(width, monkeypatch, capsys)
    assert masked(printed) == printed


def test_every_setting_is_whole_on_a_terminal_of_80_columns() -> None:
    said = geocrawl("config", "show", columns=80)
    lines = said.out.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert settings_by_name().keys() - {"set", "sites"} <= {line.split(" ")[0] for line in lines}


def test_every_command_that_prints_a_table_prints_it_wide_on_demand() -> None:
    for name in TABLES:
        assert "--wide" in CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "300"}).output, name


def test_times_in_json_are_iso_8601(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"at": 1.7e9, "due_at": None, "events": ({"since": 1.7e9 + 0.5, "reason": "ok"},), "elapsed_s": 1.7e9}]
    echo_json(rows)
    written = "2023-11-14T22:13:20Z"
    assert json.loads(capsys.readouterr().out) == [
        {"at": written, "due_at": None, "events": [{"since": written, "reason": "ok"}], "elapsed_s": 1.7e9}
    ]


def test_a_single_surrogate_is_an_escape_in_the_locale_c(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    former = io.TextIOWrapper(written, "utf-8", "surrogateescape"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", former[0])
    monkeypatch.setattr(sys, "stderr", former[1])
    output.mask_standard_streams()
    print("\ud83d", end="", flush=True)
    assert written.getvalue() == b"\\ud83d"
