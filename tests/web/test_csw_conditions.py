"""What is made of pycsw's SQL, and what the catalogue refuses it; without pycsw."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault
from geocrawl.query import fold
from geocrawl.web.csw.process import PROGRAM, CswOptions, CswProcess, configuration_of, find_interpreter
from geocrawl.web.csw.pycsw_side.conditions import SEARCHED, rewritten, text_query
from geocrawl.web.csw.pycsw_side.repository import open_catalogue

COLUMNS = frozenset({"anytext", "title", "wkt_geometry", "identifier", "links", "source"})
BOX = "POLYGON((5.00 47.00, 5.00 55.00, 15.00 55.00, 15.00 47.00, 5.00 47.00))"


def test_words_are_asked_of_the_index() -> None:
    condition, values = rewritten("anytext like %s and title = %s", ["%Fläche water%", "x"], COLUMNS, fold.spellings)
    assert condition == "id IN (SELECT rowid FROM search_text WHERE search_text MATCH ?) and title = ?"
    assert values == [f'{{{SEARCHED}}} : (("flache"* OR "flaeche"*) AND ("water"*))', "x"]
    assert text_query("%土地%", fold.spellings) == f'{{{SEARCHED}}} : (("土 地"*))'
    assert text_query("%", fold.spellings) == ""
    assert text_query('%" OR *%', fold.spellings) == f'{{{SEARCHED}}} : (("or"*))'
    assert text_query("%!!%", fold.spellings) == '""'


@pytest.mark.parametrize(
    "where",
    [
        "source = %s union select url from endpoint",
        "source = 'x'",
        "load_extension(%s)",
        "title = %s; drop table service",
        f"query_spatial(wkt_geometry,'{BOX}','beyond','1') = 'true'",
        "query_spatial(wkt_geometry,'POINT(x y)','bbox','1') = 'true'",
        "query_spatial(wkt_geometry,'POINT()','bbox','1') = 'true'",
    ],
)
def test_nothing_else_is_a_condition(where: str) -> None:
    with pytest.raises(ValueError):
        rewritten(where, ["x"], COLUMNS, fold.spellings)


@pytest.mark.parametrize(
    ("extent", "relation", "fulfilled"),
    [
        ((6, 48, 7, 49), "bbox", True),
        ((6, 48, 7, 49), "within", True),
        ((6, 48, 7, 49), "contains", False),
        ((0, 0, 50, 60), "contains", True),
        ((20, 48, 30, 49), "bbox", False),
        ((20, 48, 30, 49), "disjoint", True),
        ((170, 48, 10, 49), "intersects", True),
        ((170, 48, -170, 49), "intersects", False),
        ((None, None, None, None), "disjoint", False),
        ((5, 47, 15, 55), "equals", True),
    ],
)
def test_boxes_are_compared(extent: tuple[float | None, ...], relation: str, fulfilled: bool) -> None:
    for truth in ("true", "false"):
        where = f"query_spatial(wkt_geometry,'{BOX}','{relation}','false') = '{truth}'"
        condition, _ = rewritten(where, [], COLUMNS, fold.spellings)
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE TABLE t (west, south, east, north)")
            connection.execute("INSERT INTO t VALUES (?, ?, ?, ?)", extent)
            ((found,),) = connection.execute(f"SELECT count(*) FROM t WHERE {condition}").fetchall()
        assert bool(found) is (fulfilled is (truth == "true"))


def test_the_connection_reads_the_view_and_the_index_alone(crawled: Path) -> None:
    connection = open_catalogue(crawled, COLUMNS)
    found = connection.execute(
        "SELECT identifier, links, source FROM record WHERE id IN "
        "(SELECT rowid FROM search_text WHERE search_text MATCH ?) ORDER BY id",
        ('{title abstract} : "water"*',),
    ).fetchall()
    assert found and all(links.endswith(source) for _, links, source in found)
    for refused in (
        "SELECT url FROM endpoint",
        "SELECT identifier FROM record UNION SELECT url FROM endpoint",
        "SELECT (SELECT url FROM endpoint LIMIT 1) FROM record",
        "SELECT sql FROM sqlite_master",
        "ATTACH ':memory:' AS other",
        "CREATE TEMP TABLE t (x)",
        "UPDATE service SET title = 'x'",
    ):
        with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|prohibited"):
            connection.execute(refused)
    connection.close()


def test_the_modules_that_are_lent_need_no_geocrawl(tmp_path: Path) -> None:
    configuration = configuration_of(CswOptions(tmp_path / "c.db"))
    program = (
        "import importlib.util as u, sys\n"
        "for file in sys.argv[1:]:\n"
        "    spec = u.spec_from_file_location('lent', file); module = u.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "    print(module.spellings('臺灣') if hasattr(module, 'spellings') else module.masked('a?token=b'))\n"
        "assert not any(name.startswith('geocrawl') for name in sys.modules)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program, configuration["fold"], configuration["sanitize"]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.splitlines() == ["('台 湾',)", "a?token=***"]
    for file in PROGRAM.glob("*.py"):
        assert "import geocrawl" not in file.read_text() and "from geocrawl" not in file.read_text()


def test_a_missing_interpreter_is_told_with_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentFault, match=r"no Python with pycsw at .*make csw-env.*pip install.*csw_python"
    ) as told:
        find_interpreter(str(tmp_path / "python"))
    assert "\n" not in str(told.value)
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(EnvironmentFault, match=r"lacks pycsw .*No module named"):
        find_interpreter(str(bare))


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        options = CswOptions(tmp_path / "c.db", port=taken.getsockname()[1])
        with (
            pytest.raises(EnvironmentFault, match="choose another --csw-port"),
            CswProcess(Path(sys.executable), options),
        ):
            pass
