"""Real services proved by their content; a real map server behind a relay that mistakes the order of the axes."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from tests.servers.conftest import Geocrawl


@pytest.mark.servers
@pytest.mark.parametrize("server", ["mapserver", "qgis", "mapproxy"])
def test_a_map_server_is_proved_by_a_map(servers: dict[str, dict[str, Any]], command: Geocrawl, server: str) -> None:
    verdict = command.probe(servers[server]["wms"], "--maps")
    assert (verdict["exit_code"], verdict["level"]) == (0, "delivers")
    assert verdict["proof"][-1]["outcome"] == "ok" and verdict["proof"][-1]["milliseconds"] > 0


@contextmanager
def relay(target: str) -> Iterator[str]:
    """A server in front of `target` that reads the BBOX of WMS 1.3.0 with longitude first, as some servers do."""

    class Relay(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = dict(parse_qsl(self.path.partition("?")[2], keep_blank_values=True))
            if asked.get("VERSION") == "1.3.0" and asked.get("CRS") == "EPSG:4326":
                first, second, third, fourth = asked["BBOX"].split(",")
                asked["BBOX"] = ",".join((second, first, fourth, third))
            try:
                answer = urllib.request.urlopen(f"{target}?{urlencode(asked)}" if asked else f"{target}/nothing")
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                body = answer.read()
                self.send_response(answer.status or 500)
                self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ows"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.servers
@pytest.mark.parametrize("server", ["mapserver", "mapproxy"])
def test_the_silent_wrong_order_of_the_axes_is_caught(
    servers: dict[str, dict[str, Any]], command: Geocrawl, server: str
) -> None:
    with relay(servers[server]["wms"]) as address:
        verdict = command.probe(address, "--maps")
    assert verdict["status"] == "valid" and verdict["version"] == "1.3.0"
    outcomes = {entry["outcome"] for entry in verdict["proof"]}
    assert "axis-order" in outcomes and "ok" not in outcomes
    assert verdict["level"] == "answers"
