"""The catalogue is exported for spreadsheets and programs, whole, and harmless."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.export.tables import COLUMNS, FORMATS
from geocrawl.export.tables import export_endpoints as export
from geocrawl.model.catalogue import EndpointService, Service, file_columns

ROW = EndpointService(
    id=7,
    url="http://maps.example.org/cgi-bin/mapserv?map=/a,b.map",
    kind="wms",
    status="valid",
    title="青山省地图服务, 第一期",
    version="1.3.0",
    layers=3,
    first_seen="2024-05-17T09:30:00Z",
    last_ok="2024-05-17T10:30:00Z",
    reason="ok",
    last_probe="2024-05-17T10:30:00Z",
    provider="Office",
    abstract="Two\nlines",
    keywords=("roads", "rivers"),
    formats=("image/png",),
    online_resource="http://maps.example.org/",
    box=(7.25, -1.5, 9.0, float("nan")),
    deviations=("bom", "content-type"),
    deviation_details=({"code": "bom", "detail": "EF BB BF"}, {"code": "content-type", "detail": ""}),
    country="DE",
    contact={"person": "Ann", "organization": "Office", "email": "ann@office.example"},
    availability=0.75,
    software="MapServer",
    quality=80,
    twins=(2, 9),
    page="http://portal.example/maps?key=sesame",
)


def _csv(*rows: EndpointService) -> list[dict[str, str]]:
    out = io.StringIO()
    assert FORMATS["csv"](rows, out) == len(rows)
    return list(csv.DictReader(io.StringIO(out.getvalue())))


def _jsonl(*rows: EndpointService) -> list[dict[str, object]]:
    out = io.StringIO()
    assert FORMATS["jsonl"](rows, out) == len(rows)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_columns_that_scripts_rely_on_come_first() -> None:
    assert list(COLUMNS)[:8] == ["url", "kind", "status", "title", "version", "layers", "first_seen", "last_ok"]
    assert {"service_id", "status", "reason", "west", *file_columns(Service)} - {"id"} <= set(COLUMNS)


def test_a_csv_line_holds_every_value_in_plain_words() -> None:
    (row,) = _csv(ROW)
    assert row["url"] == "http://maps.example.org/cgi-bin/mapserv?map=/a,b.map"
    assert row["title"] == "青山省地图服务, 第一期"
    assert (row["layers"], row["west"], row["south"], row["north"]) == ("3", "7.25", "-1.5", "")
    assert (row["first_seen"], row["last_ok"]) == ("2024-05-17T09:30:00Z", "2024-05-17T10:30:00Z")
    assert (row["keywords"], row["deviations"]) == ("roads; rivers", "bom; content-type")
    assert row["abstract"] == "Two lines"
    assert (row["contact"], row["availability"]) == ("Ann; Office; ann@office.example", "0.75")
    assert (row["mean_ms"], row["quality"], row["twins"]) == ("", "80", "2; 9")
    assert row["page"] == "http://portal.example/maps?key=sesame"


def test_a_json_line_holds_lists_and_null() -> None:
    (row,) = _jsonl(replace(ROW, last_ok="", id=0))
    assert row["keywords"] == ["roads", "rivers"]
    assert row["deviations"] == [{"code": "bom", "detail": "EF BB BF"}, {"code": "content-type", "detail": ""}]
    assert (row["last_ok"], row["north"], row["service_id"]) == (None, None, None)
    assert list(row) == list(COLUMNS)


@pytest.mark.parametrize(
    "title", ['=HYPERLINK("http://evil.example/")', "+1", "-2+3", "@SUM(A1)", "＝1", "\t=1", "\x07=1", " =1"]
)
def test_a_title_that_a_spreadsheet_would_calculate_is_quoted_in_csv_only(title: str) -> None:
    (row,) = _csv(replace(ROW, title=title, provider=title, keywords=(title,)))
    assert row["title"].startswith("'")
    assert row["provider"].startswith("'")
    assert row["keywords"].startswith("'")
    assert not str(_jsonl(replace(ROW, title=title))[0]["title"]).startswith("'")


def test_negative_numbers_and_addresses_are_left_alone() -> None:
    (row,) = _csv(replace(ROW, box=(-7.5, 1, 2, 3), url="http://maps.example.org/=x?a=-1"))
    assert (row["west"], row["url"]) == ("-7.5", "http://maps.example.org/=x?a=-1")


@given(st.text(), st.lists(st.text()))
def test_any_title_and_keywords_survive_as_one_row_without_controls(title: str, keywords: list[str]) -> None:
    row = replace(ROW, title=title, abstract=title, keywords=tuple(keywords))
    assert len(_csv(row, row)) == 2
    assert len(_jsonl(row, row)) == 2
    for value in _csv(row)[0].values():
        assert value.isprintable() or not any(ord(character) < 0x20 for character in value)
        assert not value.startswith(("=", "+", "@"))


def test_secrets_in_addresses_are_masked_unless_they_are_wanted(tmp_path: Path) -> None:
    row = replace(ROW, url="http://a.example/wms?map=a&token=sesame", online_resource="http://u:p@a.example/")
    for form in ("csv", "jsonl"):
        assert export([row], form, tmp_path / form) == 1
        text = (tmp_path / form).read_text("utf-8")
        assert "map=a&token=***" in text and "sesame" not in text and "u:p" not in text
        export([row], form, tmp_path / form, with_secrets=True)
        assert "token=sesame" in (tmp_path / form).read_text("utf-8")


def test_a_file_is_written_in_utf8_without_a_mark(tmp_path: Path) -> None:
    out = tmp_path / "catalogue.csv"
    assert export([ROW, ROW], "csv", out) == 2
    data = out.read_bytes()
    assert data.startswith(b"url,kind,status,title,version,layers,first_seen,last_ok")
    assert "青山省".encode() in data
    assert data.count(b"\n") == 3
    assert b"\r" not in data
    assert list(tmp_path.iterdir()) == [out]


def _failing(error: Exception) -> Iterator[EndpointService]:
    yield ROW
    raise error


def test_a_failed_export_leaves_the_former_file_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "catalogue.csv"
    out.write_text("before")
    with pytest.raises(ValueError, match="broken"):
        export(_failing(ValueError("broken")), "csv", out)
    with pytest.raises(EnvironmentFault, match=r"catalogue.csv: cannot be written: No space left"):
        export(_failing(OSError(28, "No space left on device")), "csv", out)
    assert out.read_text() == "before"
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be written: No such file or directory"):
        export([ROW], "csv", tmp_path / "none" / "a.csv")
    with pytest.raises(EnvironmentFault, match="cannot be written: Is a directory"):
        export([ROW], "csv", tmp_path)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    export([ROW], "csv", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text(encoding="utf-8").startswith("url,")


def test_a_named_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    export([ROW], "jsonl", pipe)
    reader.join(120)
    assert json.loads(read[0])["kind"] == "wms"
    assert pipe.is_fifo()


@pytest.mark.parametrize("out", [None, Path("-"), Path("/dev/stdout")])
def test_without_a_file_it_goes_to_standard_output(out: Path | None, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    export([replace(ROW, title="路")], "jsonl", out)
    sys.stdout.write("still open\n")
    sys.stdout.flush()
    first, second = capfdbinary.readouterr().out.decode().splitlines()
    assert json.loads(first)["title"] == "路"
    assert second == "still open"


def test_standard_output_is_utf8_in_any_locale() -> None:
    code = (
        "from tests.export.test_export import ROW; from geocrawl.export.tables import export_endpoints as export;"
        "raise SystemExit(export([ROW], 'csv') - 1)"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert "青山省" in done.stdout.decode("utf-8")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="one of csv, jsonl"):
        export([], "xlsx")
