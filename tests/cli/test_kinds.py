"""Addresses of every kind on the command line: what they are asked as, what is said when they are something else."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support import forked

Probe = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def origin(shared: Path) -> Iterator[str]:
    documents = shared / "corpus" / "documents"
    answers = {
        "/features": ((documents / "wfs" / "geotools_GetCapabilities-22.xml").read_bytes(), "text/xml"),
        "/folder": ((documents / "arcgis" / "terriajs_AGP.json").read_bytes(), "application/json"),
        "/page": (b"<!DOCTYPE html><html><head><title>Our maps</title></head><body>maps</body></html>", "text/html"),
    }

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, media_type = answers.get(self.path.partition("?")[0], (b"", ""))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", media_type or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def probe(tmp_path: Path, origin: str) -> Probe:
    def ask(path: str, *options: str) -> tuple[int, str]:
        command = ("probe", origin + path, "--allow-private", "--delay", "0", *options)
        done = forked.geocrawl(command, env=os.environ, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout

    return ask


@pytest.mark.shared
@pytest.mark.parametrize(("path", "kind"), [("/features", "wfs"), ("/folder", "arcgis")])
def test_an_address_that_says_nothing_is_asked_as_what_answers(probe: Probe, path: str, kind: str) -> None:
    code, output = probe(path, "--json")
    (line,) = map(json.loads, output.splitlines())
    assert (code, line["status"], line["kind"], line["reason"]) == (0, "valid", kind, "ok")
    assert line["given"].endswith(path)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "kind", "reason", "said"),
    [
        ("/features", "wms", "other-kind", "another kind than WMS"),
        ("/folder", "wfs", "other-kind", "another kind than WFS"),
        ("/page", "wms", "html", "A web page answers, not WMS"),
        ("/page", "arcgis", "html", "A web page answers, not ArcGIS"),
        ("/nothing", "csw", "http-404", ""),
    ],
)
def test_a_wrong_kind_is_told_by_a_reason_and_a_sentence(
    probe: Probe, path: str, kind: str, reason: str, said: str
) -> None:
    code, output = probe(path, "--kind", kind)
    assert code == 1
    assert output.startswith(f"invalid  {reason}")
    assert said in output


@pytest.mark.shared
def test_a_wrong_kind_is_told_by_the_kind_and_a_reason_in_json(probe: Probe) -> None:
    code, output = probe("/features", "--kind", "wms", "--json")
    (line,) = map(json.loads, output.splitlines())
    assert (code, line["kind"], line["reason"]) == (1, "wms", "other-kind")


def test_an_unknown_kind_is_wrong_use(tmp_path: Path) -> None:
    done = forked.geocrawl(("probe", "http://a.example/", "--kind", "wmz"), env=os.environ, cwd=tmp_path)
    assert done.returncode == 2
    assert "expected one of wms, wfs" in done.stderr


def test_kinds_are_listed_with_what_proves_them(tmp_path: Path) -> None:
    rows = json.loads(forked.geocrawl(["kinds", "--json"], env=os.environ, cwd=tmp_path).stdout)
    kinds = {row["kind"] for row in rows}
    assert {"wms", "wfs", "wmts", "wcs", "csw", "arcgis", "ogcapi"} <= kinds
    assert all(row["name"] and row["recognised"] and row["proof"] for row in rows)
