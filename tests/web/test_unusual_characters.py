"""Each unusual character goes through each face, and the standard reader of its format reads back what was written.

All texts of a catalogue are made of these characters, so a face that is added without its guard fails here.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing
from email.message import Message
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from rdflib import Graph
from starlette.testclient import TestClient

from geocrawl.export.tables import COLUMNS, LAYER_TABLE, csv_bytes
from geocrawl.sanitize import plain
from tests.support.commands import geocrawl
from tests.web.conftest import Serve

ITEMS = "/collections/services/items"
FORMULAS = (
    *("=", "+", "-", "@", "＝", "＋", "－", "＠"),
    *("\t=", "\r=", "\n=", " =", "\xa0=", "\ufeff=", "\ufffe=", "\x1b[1m="),
)
TEXTS = (
    *("".join(map(chr, range(1, 32))), "".join(map(chr, range(127, 160)))),
    *("\ufffe\uffff\x01\x0b\x1f", "\ufdd0\U0001fffe\U0010ffff", "\u202a\u202e\u2066\u2069\u200f"),
    "a\r\nb\u2028c\u2029d\x85e\x0bf\x0cg",
    "\"'`«»\\,;\t|",
    '<a b="c">&amp;&#0;]]><!--x--><?y?>',
    "x\r\nSet-Cookie: a=b\r\n\r\n",
    '../../a/b\\c:*?"<>|.csv%2f',
    "\U0001f5fa\U00020000\u0301\u200d",
    *(f"{start}HYPERLINK(A1)" for start in FORMULAS),
)
OF_ITEM = (
    "",
    "/history",
    "/changes",
    "/months",
    "/badge.svg",
    "/layer.qlr?layer=1",
    "?f=iso19139",
    "?f=iso19115-3",
    "?f=jsonld",
)
FACES = (
    *(f"{ITEMS}?f=csv&limit=100", "/layers?f=csv&limit=100", f"{ITEMS}?limit=100", "/layers?limit=100"),
    *("/feed.json", "/feed.atom", "/sitemap-0.xml", "/opensearch.xml", "/providers?f=json", "/layers?f=qlr"),
    *(f"/oai?verb=ListRecords&metadataPrefix={form}" for form in ("oai_dc", "iso19139")),
    f"{ITEMS}?f=dcat&limit=100",
)


@pytest.fixture
def served(serve: Serve, catalogue: Path) -> TestClient:
    """A client of a catalogue whose every text has unusual characters, others in each row."""
    with closing(sqlite3.connect(catalogue, isolation_level=None)) as writer:
        writer.create_function("odd", 1, lambda number: TEXTS[number % len(TEXTS)])
        writer.create_function("odds", 1, lambda number: json.dumps([TEXTS[number % len(TEXTS)], f"{number}"]))
        writer.execute(
            "UPDATE service SET title = odd(id), abstract = odd(id), provider = odd(id), fees = odd(id), "
            "access_constraints = odd(id), version = odd(id), keywords = odds(id), formats = odds(id), "
            "contact = json_object('person', odd(id), odd(id), odd(id)), masked_online_resource = odd(id)"
        )
        writer.execute("UPDATE layer SET title = odd(position), abstract = odd(position), crs = odds(position)")
        writer.execute("UPDATE layer SET name = odd(position) || position WHERE name <> ''")
        writer.execute("UPDATE endpoint SET cors = odd(id)")
        writer.execute("UPDATE endpoint SET deviations = json_array(json_object('code', odd(id), 'detail', odd(id)))")
        writer.execute("UPDATE evidence SET anchor = odd(id), signal = odd(id)")
    return serve(catalogue)


def test_each_face_is_read_back_by_the_reader_of_its_format(served: TestClient) -> None:
    numbers = [each["id"] for each in served.get(f"{ITEMS}?limit=100").json()["features"]]
    assert len(numbers) > 20
    for path in (*FACES, *(f"{ITEMS}/{number}{face}" for number in numbers for face in OF_ITEM)):
        answer = served.get(path)
        if answer.status_code == 404 and ".qlr" in path:  # QGIS opens none of it
            continue
        assert answer.status_code == 200, (path, answer.text[:200])
        assert "set-cookie" not in answer.headers, path
        _check_file_name(answer.headers.get("content-disposition", ""))
        media_type = answer.headers["content-type"]
        if "csv" in media_type:
            _check_table(answer.text)
        elif "json" in media_type:
            json.loads(answer.content)
        elif "turtle" in media_type:
            assert len(Graph().parse(data=answer.content, format="turtle"))
        elif "zip" not in media_type:
            etree.fromstring(answer.content)
            ET.fromstring(answer.content)


def _check_file_name(disposition: str) -> None:
    message = Message()
    message["Content-Disposition"] = disposition or "inline"
    name = message.get_filename() or "a"
    assert Path(name).name == name and name.isascii() and not set(name) & set('\\/:*?"<>|')


def _check_table(text: str) -> None:
    """Check that a table has the same columns in each row, and that no cell of any column is a formula."""
    header, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    assert rows and all(len(row) == len(header) for row in rows)
    for row in rows:
        for name, cell in zip(header, row, strict=True):
            assert plain(cell) == cell, (name, cell)
            is_formula = cell.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
            assert not is_formula or _is_number(cell), (name, cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell[0] == "-"


CELLS = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=20),
    st.builds(lambda start, rest: start + rest, st.sampled_from(FORMULAS), st.text(max_size=5)),
)


@given(st.sampled_from([COLUMNS, LAYER_TABLE]), st.data())
def test_any_text_in_any_column_is_a_cell_and_no_formula(columns: tuple[str, ...], data: st.DataObject) -> None:
    fixed = {"url", "kind", "status", "reason"}
    row = [
        "x" if name in fixed else data.draw(st.one_of(CELLS, st.lists(CELLS, max_size=3), st.floats(), st.none()))
        for name in columns
    ]
    _check_table(csv_bytes(columns, [row, row]).decode())


@pytest.mark.parametrize("text", ["=HYPERLINK(A1)", "\ufffe=1", 'a\r\nb,"c"'])
def test_tables_on_the_command_line_have_the_same_guard(catalogue: Path, text: str) -> None:
    with closing(sqlite3.connect(catalogue, isolation_level=None)) as writer:
        writer.execute("UPDATE service SET title = ?, provider = ?", (text, text))
        writer.execute("UPDATE layer SET title = ?, crs = ?", (text, json.dumps([text])))
    for arguments in (("export", "--format", "csv"), ("search", "rivers", "--layers", "--format", "csv")):
        done = geocrawl(*arguments, "--db", str(catalogue))
        assert done.code == 0, done.err
        _check_table(done.out)


@pytest.mark.parametrize("typed", ["search rivers --json", "changes --json", "show 1 --json"])
def test_json_shows_no_control_to_a_terminal_and_reads_back_as_it_was(catalogue: Path, typed: str) -> None:
    odd = "a\x7f\x85\x9b2J\u2028\u202e\ufeff\ufffe\U000e0041 rivers"
    with closing(sqlite3.connect(catalogue, isolation_level=None)) as writer:
        writer.execute("UPDATE service SET title = ?", (odd,))
    done = geocrawl(*typed.split(), "--db", str(catalogue))
    assert done.code == 0, done.err
    assert all(line.isprintable() for line in done.out.split("\n")), ascii(done.out[:500])
    read = [json.loads(line) for line in done.out.split("\n") if line]
    assert odd in json.dumps(read, ensure_ascii=False)
