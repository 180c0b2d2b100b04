"""What is made of pycsw's SQL, and what the catalogue refuses it; without pycsw."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault
from geocrawl.query import fold
from geocrawl.web.csw.process import PROGRAM, CswOptions, CswProcess, configuration_of, find_interpreter
from geocrawl.web.csw.pycsw_side.conditions import SEARCHED, rewritten, text_query
from geocrawl.web.csw.pycsw_side.repository import Repository, open_catalogue

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
        "    spec = u.spec_from_file_location('lent', file)\n"
        "    module = sys.modules['lent'] = u.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "    if hasattr(module, 'Rates'):\n"
        "        rates = module.Rates(60)\n"
        "        print([rates.wait_s(rates.client('a', 0.0)) > 0 for _ in range(22)].count(True))\n"
        "        continue\n"
        "    print(module.spellings('臺灣') if hasattr(module, 'spellings') else module.masked('a?token=b'))\n"
        "assert not any(name.startswith('geocrawl') for name in sys.modules)\n"
    )
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        program,
        *(configuration[name] for name in ("fold", "sanitize", "rates")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.splitlines() == ["('台 湾',)", "a?token=***", "2"]
    for file in PROGRAM.glob("*.py"):
        assert "import geocrawl" not in file.read_text() and "from geocrawl" not in file.read_text()


def test_csw_has_the_rate_of_the_pages_unless_a_proxy_asks_for_all(tmp_path: Path) -> None:
    options = CswOptions(tmp_path / "c.db", requests_per_minute=600)
    assert configuration_of(options)["requests_per_minute"] == 600
    behind = replace(options, url="https://maps.example.org/csw")
    assert configuration_of(behind)["requests_per_minute"] == 0


def test_the_values_of_a_domain_are_bounded_over_all_properties_of_a_request(catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as writer:
        services = writer.execute("UPDATE service SET abstract = id || ?", ["x" * 60_000]).rowcount
        writer.commit()
    repository = Repository.__new__(Repository)  # without pycsw, whose list of columns it would ask for
    repository.columns, repository._domain_chars = COLUMNS | {"abstract", "organization"}, 500_000
    repository.database, repository._connection = catalogue, open_catalogue(catalogue, repository.columns)
    few = repository.query_domain("organization", "")
    assert few and services > 9, "a property of few values is listed whole"
    assert len(repository.query_domain("abstract", "")) == 8
    assert repository.query_domain("title", "") == [], "the properties before were enough"
    repository.close()


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
