"""`geocrawl mine` into PostgreSQL: the queue that SQLite gets, resumed by file, and without what opted out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from geocrawl.store.database.database import open_readonly
from geocrawl.urls.database import place_of
from tests.mining.made_index import write_part
from tests.mining.made_warc import MadePage, write_archive
from tests.support.commands import geocrawl
from tests.support.invariants import check_invariants

WMS = "https://maps.example.org/geoserver/ows?service=WMS&request=GetCapabilities"
ADDRESSES = [
    *(WMS, "https://gis.example.org/arcgis/rest/services/Roads/MapServer/0", "https://www.example.org/news/1.html"),
    *("https://data.example.net/dataset?res_format=WMS", "http://10.0.0.7/geoserver/wms"),
    "https://gone.example.com/wms?service=WMS",
]
QUEUE = "SELECT address, purpose, state, tier, host_id FROM url ORDER BY id"
FOUND = """
SELECT e.kind, e.key, v.signal, v.page, v.anchor FROM endpoint e JOIN evidence v ON v.endpoint_id = e.id
ORDER BY 2, 3, 4"""


def mined(database: str, *paths: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(geocrawl("mine", *map(str, paths), "--db", database, "--json").out)
    return {name: value for name, value in report.items() if name != "seconds"}


def rows(database: str) -> list[list[tuple[object, ...]]]:
    with open_readonly(place_of(database)) as connection:
        check_invariants(connection)
        return [list(map(tuple, connection.execute(each).fetchall())) for each in (QUEUE, FOUND)]


def test_archives_fill_both_engines_alike_and_each_file_counts_once(tmp_path: Path, postgres_url: str) -> None:
    write_part(tmp_path / "index", ADDRESSES)
    pages = [MadePage("https://www.example.org/services.html", f'<a href="{WMS}">Map service</a>'.encode())]
    _, wat = write_archive(tmp_path, pages)
    reports, found = [], []
    for database in (f"sqlite:///{tmp_path / 'c.db'}", postgres_url):
        geocrawl("seeds", "add", "https://www.example.org/", "--db", database)
        assert geocrawl("forget", "gone.example.com", "--reason", "mail", "--db", database).code == 0
        first, again = mined(database, tmp_path / "index", wat), mined(database, tmp_path / "index", wat)
        write_part(tmp_path / "index", [WMS, "https://late.example.org/wms?service=WMS"], part=1)
        reports.append((first, again, mined(database, tmp_path / "index")))
        found.append(rows(database))
        (next((tmp_path / "index").rglob("part-00001*"))).unlink()
        why = geocrawl("why", WMS, "--db", database).out
        assert "found by archive on crawl-data/" in why and "found by query “Map service”" in why
    assert reports[0] == reports[1] and found[0] == found[1]
    first, again, more = reports[1]
    assert (first["new_services"], first["new_pages"], first["refused"]["forgotten"]) == (2, 1, 1)
    assert (again["files"], again["done_before"], again["new_services"]) == (0, 2, 0)
    assert (more["files"], more["new_services"]) == (1, 1)
