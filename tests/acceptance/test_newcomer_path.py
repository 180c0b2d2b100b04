"""A newcomer's first hour: from the demo to a layer in QGIS, by steps that each step before prints or shows."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
from html import unescape
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree

import httpx
import pytest

from tests.support.processes import clean_environment, geocrawl

pytestmark = pytest.mark.acceptance


def test_the_demo_leads_to_a_search_a_server_a_service_and_a_file_for_qgis(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path)

    def run(command: list[str]) -> str:
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    printed = run(geocrawl("demo")).partition("Commands to try on it:\n")[2].splitlines()
    to_try = [shlex.split(line) for line in printed if line.startswith("  ")]
    named = {name: command for command in to_try for name in ("status", "search", "show", "export") if name in command}
    assert len(named) == 4
    assert run(named["status"]).startswith("well")
    assert "青山省" in run(named["search"]) and "http" in run(named["show"])
    assert len(run(named["export"]).splitlines()) > 30

    (serve,) = (command for command in to_try if "serve" in command)
    with socket.socket() as free:  # another server may have the usual port
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with subprocess.Popen(
        [*serve, "--port", port], env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            said = re.search(r"at (http://\S+) \(Ctrl-C ends it\)", next(iter(server.stderr)))
            assert said is not None
            _walk(said[1])
        finally:
            server.terminate()


def _walk(address: str) -> None:
    """Follow the links of the pages as a person does: an example, the first result, its line for QGIS."""
    transport = httpx.HTTPTransport(retries=100)  # it says its address before it listens
    with httpx.Client(transport=transport, trust_env=False, timeout=120, headers={"Accept": "text/html"}) as client:

        def follow(page: str, link: str) -> str:
            (href, *_) = re.findall(link, page) or [""]
            assert href, (link, page[:2_000])
            answer = client.get(urljoin(address, unescape(href)))
            assert answer.status_code == 200, href
            return answer.text

        home = client.get(address).text
        results = follow(home.partition('class="examples"')[2], r'href="([^"]*q=[^"]+)"')
        service = follow(results, r'<h2><a href="([^"]+)"')
        assert "QGIS" in service
        layers = follow(results, r'<a href="(/layers[^"]*)"')
        definition = ElementTree.fromstring(follow(layers, r'href="([^"]+layer\.qlr[^"]*)"'))
        assert definition.tag == "qlr" and definition.find(".//maplayer/srs/spatialrefsys/authid") is not None
