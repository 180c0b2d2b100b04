"""`recognise` says what addresses are without asking anybody, `identify` asks a page once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.loopback import Handler, Server, running

HOME = b'<!DOCTYPE html><html data-ng-app="gn_search_default"><title>Records</title>'
WORDPRESS = b'<!DOCTYPE html><meta name="generator" content="WordPress 6.4"><title>GeoServer and I</title>'


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = forked.geocrawl(arguments, env={**os.environ, "HOME": str(tmp_path)}, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    return done


def test_an_address_is_recognised_with_the_requests_that_it_leads_to(tmp_path: Path) -> None:
    done = run(tmp_path, "recognise", "https://m.example/geoserver/web/", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["address"], found["software"], found["kind"]) == (
        "https://m.example/geoserver/web/",
        "GeoServer",
        None,
    )
    assert found["requests"][0].startswith("https://m.example/geoserver/ows?SERVICE=WMS&REQUEST=GetCapabilities")
    assert found["requests"][-1] == found["address"]


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://m.example/gwc/service/wms?request=GetCapabilities&version=1.1.1&tiled=true", "wmsc"),
        ("https://m.example/wms?service=WMS&request=GetMap&tiled=true", "wms"),
        ("https://m.example/pycsw", "csw"),
        ("https://m.example/maps/rest/services", "arcgis"),
    ],
)
def test_an_endpoint_is_read_as_its_kind(tmp_path: Path, address: str, kind: str) -> None:
    assert json.loads(run(tmp_path, "recognise", address, "--json").stdout)["kind"] == kind


def test_each_line_of_a_list_has_its_answer_or_a_reason(tmp_path: Path) -> None:
    listed = tmp_path / "portals.txt"
    listed.write_bytes(b"# portals\nhttps://m.example/geonetwork\n\nnot an address\nhttp://[::\n\xff\xfe\nm.example\n")
    done = run(tmp_path, "recognise", "--file", str(listed), "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [row.get("reason") for row in rows] == [None, *["not a web address"] * 3, None]
    assert rows[0]["software"] == "GeoNetwork"


def test_a_table_has_its_addresses_in_the_column_url_or_link(tmp_path: Path) -> None:
    table = tmp_path / "portals.csv"
    table.write_text('link,software\nhttps://m.example/geonetwork,x\n"broken\n', "utf-8")
    rows = run(tmp_path, "recognise", "--file", str(table), "--json").stdout.splitlines()
    assert json.loads(rows[0])["software"] == "GeoNetwork" and "reason" in json.loads(rows[1])


def test_exit_codes_are_those_of_other_commands(tmp_path: Path) -> None:
    assert run(tmp_path, "recognise", "https://m.example/about").returncode == 1
    assert run(tmp_path, "recognise").returncode == 2
    assert run(tmp_path, "recognise", "no address at all").returncode == 2
    assert run(tmp_path, "recognise", "--file", str(tmp_path / "missing")).returncode == 2


@pytest.fixture
def origin() -> Iterator[str]:
    class Pages(Handler):
        def respond(self) -> None:
            body = {"/": HOME, "/blog": WORDPRESS, "/geoserver": WORDPRESS}.get(self.path, b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.write(body)

    with running(Server(Pages)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"


def test_a_page_is_identified_by_its_markup(tmp_path: Path, origin: str) -> None:
    done = run(tmp_path, "identify", f"{origin}/", "--json", "--allow-private", "--delay", "0")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["software"] == "GeoNetwork"
    assert found["requests"][0].startswith(f"{origin}/srv/eng/csw?")
    assert run(tmp_path, "identify", f"{origin}/blog", "--allow-private", "--delay", "0").returncode == 1


def test_a_page_that_does_not_answer_is_identified_by_its_failure(tmp_path: Path) -> None:
    done = run(tmp_path, "identify", "http://127.0.0.1:9/", "--allow-private", "--delay", "0")
    assert done.returncode == 1 and "refused" in done.stderr
    assert run(tmp_path, "identify", "no address").returncode == 2
