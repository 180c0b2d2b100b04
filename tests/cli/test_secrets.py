"""Keys, tokens and passwords in addresses: no command prints them unless it is asked to, and all find by them."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from geocrawl.cli import main
from geocrawl.cli.output import print_table
from geocrawl.cli.registry import COMMANDS
from tests.attacks.attackers import CAPABILITIES

SECRET = "sesame"
START = f"http://www.example/start?sid={SECRET}"
SERVICE = f"http://maps.example/wms?token={SECRET}"
TWIN = f"https://twin.example/wms?map=a&api_key={SECRET}"
BROKEN = f"http://broken.example/wms?pwd={SECRET}"
GONE = f"http://www.example/gone?access_token={SECRET}"
NESTED = f"http://www.example/proxy?url=http%3A%2F%2Fmaps.example%2Fwms%3Ftoken%3D{SECRET}"
PAGE = f"""<title>Maps</title><a href="{SERVICE}&service=WMS&request=GetCapabilities">WMS of {SERVICE}</a>
<a href="{BROKEN}&service=WMS">WMS</a><a href="{GONE}">maps</a><a href="{NESTED}">map</a> wms wms map
<a href="{TWIN}&service=WMS&request=GetCapabilities">the same</a>"""
EXCEPTION = f"""<?xml version="1.0"?><ServiceExceptionReport xmlns="http://www.opengis.net/ogc"><ServiceException>
cannot open http://admin:{SECRET}@inner.example/x?key={SECRET}</ServiceException></ServiceExceptionReport>"""


class _Web(BaseHTTPRequestHandler):
    """A proxy for every host: a page, a service under two names whose texts hold passwords, one that is broken."""

    title = "Roads"

    def do_GET(self) -> None:
        host, path = urlsplit(self.path).hostname or "", urlsplit(self.path).path
        status, kind, body = 404, "text/plain", f"no {self.path}"
        if path == "/start":
            status, kind, body = 200, "text/html", PAGE
        elif host == "broken.example" and path == "/wms":
            status, kind, body = 200, "text/xml", EXCEPTION
        elif path == "/wms":
            status, kind, body = 200, "text/xml", _capabilities(type(self).title)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _capabilities(title: str) -> str:
    online = (
        f'<OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="http://u:{SECRET}@maps.example/"/>'
    )
    text = CAPABILITIES.format(doctype="", title=f"{title}, see http://u:{SECRET}@maps.example/?key={SECRET}")
    return text.replace("</Title></Service>", f"</Title>{online}</Service>")


Geocrawl = Callable[..., tuple[int, str]]
"""Arguments → exit code, all that was printed."""


@pytest.fixture(scope="module")
def geocrawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Geocrawl]:
    """The commands, each as `main` runs it, on a catalogue that was crawled, watched and changed."""
    home = tmp_path_factory.mktemp("secrets")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Web) as server, pytest.MonkeyPatch.context() as patch:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(home))
        settings = {
            "DB": "c.db",
            "DELAY": "0",
            "MAPS": "false",
            "SIBLINGS": "0",
            "STRATEGY": "bfs",
            "MAX_ATTEMPTS": "1",
            "STORE_PAGES": "true",
            "STORE_PAGES_MIN_SCORE": "0",
        }
        proxy = {"PROXY": f"http://u:{SECRET}@127.0.0.1:{server.server_port}"}
        for name, value in {**settings, **proxy}.items():
            patch.setenv(f"GEOCRAWL_{name}", value)
        patch.chdir(home)

        def run(*arguments: str) -> tuple[int, str]:
            out, err = io.BytesIO(), io.BytesIO()
            streams = [
                io.TextIOWrapper(buffer, "utf-8") for buffer in (out, err)
            ]  # kept: a dropped one closes its buffer
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            patch.setattr(sys, "argv", ["geocrawl", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
            sys.stdout.flush()
            sys.stderr.flush()
            said = "".join(buffer.getvalue().decode() for buffer in (out, err))
            assert "Traceback" not in said
            return int(end.value.code or 0), said

        (home / "bad.txt").write_text(f"{START}\nno address http://u:{SECRET}@x\nnone ?token={SECRET}\n")
        for first in (("crawl", START, TWIN, "--log-json"), ("seeds", "add", START, GONE)):
            code, said = run(*first)
            assert code == 0 and SECRET not in said, said
        patch.setattr(_Web, "title", "Rivers")
        run("probe", "--save", SERVICE)
        yield run
        patch.undo()
        server.shutdown()


PRINTING: dict[str, list[list[str]]] = {
    "changes": [[], ["--json"]],
    "check": [[]],
    "doctor": [[], ["--json"]],
    "config show": [[], ["--json"]],
    "crawl": [
        ["--again", "--max-pages", "3", START],
        ["--again", "--json", START],
        ["--again", "--log-json", "--log-visits", START],
        ["--again", "--log-visits", START],
        ["--seeds", "bad.txt", "--max-pages", "1"],
        [f"not an address ?token={SECRET}"],
    ],
    "export": [["--format", "csv"], ["--format", "jsonl"]],
    "harvest": [[SERVICE, "--max-pages", "1"], [GONE, "--json"], [GONE, "--log-json"]],
    "history": [["1"], [SERVICE], [SERVICE, "--json"], [f"{SERVICE}&x=1"]],
    "merge": [[SERVICE, TWIN], [SERVICE, TWIN, "--json"], [SERVICE, SERVICE], [SERVICE, BROKEN]],
    "metrics": [[]],
    "pages list": [[], ["--json"]],
    "pages show": [[START], [f"http://never.example/?token={SECRET}"]],
    "pages export": [["--out", f"pages.warc?token={SECRET}"], ["--out", "texts", "--format", "text"]],
    "probe": [[SERVICE], [SERVICE, "--json"], [BROKEN], [BROKEN, "--json", "--maps"], ["--file", "bad.txt"]],
    "recognise": [[SERVICE], [SERVICE, "--json"], ["--file", "bad.txt"], ["--file", "bad.txt", "--json"]],
    "identify": [[START], [START, "--json"], [SERVICE], [f"no address ?token={SECRET}"]],
    "retry": [[], ["--json"]],
    "search": [["rivers"], ["rivers", "--format", "json"], ["rivers", "--format", "csv"], [SERVICE]],
    "seeds add": [["--file", "bad.txt"], [f"?token={SECRET}"]],
    "seeds check": [[], ["--json"], ["--stored"], ["--stored", "--json"]],
    "seeds list": [[], ["--json"], ["--shipped", "--region", "Oceania"]],
    "seeds remove": [[f"http://never.example/?token={SECRET}"]],
    "show": [["1"], ["1", "--json"], [SERVICE], [f"http://never.example/?token={SECRET}"]],
    "signals": [[], ["--json"]],
    "split": [[SERVICE, TWIN], [SERVICE, TWIN, "--json"]],
    "stats": [["--survival"], ["--survival", "--json"], ["--picture", "deviations"]],
    "status": [[], ["--json"]],
    "why": [[START], [SERVICE], [BROKEN, "--json"], [GONE], [NESTED], [f"http://never.example/?token={SECRET}"]],
    "forget": [["--list"], ["--list", "--json"], [f"never.example/?token={SECRET}", "--reason", f"mail {SERVICE}"]],
    "report": [
        ["--month", "2026-10"],
        ["--month", time.strftime("%Y-%m", time.gmtime()), "--format", "csv"],
        ["--by", "provider"],
    ],
    "watch add": [[SERVICE, "--to", f"https://hooks.example/?token={SECRET}"], ["rivers", "--to", "mail:anna"]],
    "watch list": [[], ["--json"]],
    "watch remove": [["1"]],
    "watch send": [[], ["--json"]],
    "release": [[f"http://maps.example/?token={SECRET}"]],
}
WITHOUT_ADDRESSES = set(
    ["backup", "daemon", "demo", "evaluate", "kinds", "pause", "reload", "restore", "resume", "serve", "stop"]
    + ["migrate", "mine", "strategies", "workers"]
    + ["config check", "service install", "service uninstall", "world check", "world make"]
    + [f"topics {name}" for name in ("add", "list", "show")]
    + [f"train {name}" for name in ("bayes", "fusion", "links", "topic", "vectors")]
)
"""They print none of the catalogue's; the daemon logs as a crawl does, and all go through the same streams."""


@pytest.mark.parametrize("command", PRINTING)
def test_a_command_prints_no_secret(geocrawl: Geocrawl, command: str) -> None:
    for arguments in PRINTING[command]:
        code, said = geocrawl(*command.split(), *arguments)
        assert code in (0, 1, 2), said
        assert SECRET not in said, (arguments, said)


def test_an_address_that_a_table_folds_is_masked_before(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("address",), [(f"http://maps.example/{'x' * width}?token={SECRET}",) for width in range(160, 190)])
    assert "ame" not in capsys.readouterr().out.replace("maps.example", "")


def test_usage_errors_quote_no_secret_however_they_are_folded(geocrawl: Geocrawl) -> None:
    for width in range(0, 80, 7):
        code, said = geocrawl("status", f"http://maps.example/{'x' * width}?token={SECRET * 9}")
        assert code == 2 and SECRET not in said and "ame" not in said.replace("maps.example", "").replace("name", "")


def test_every_command_is_either_tried_here_or_known_to_print_no_address() -> None:
    assert set(COMMANDS) == set(PRINTING) | WITHOUT_ADDRESSES


@pytest.mark.parametrize(
    "command",
    [
        "search rivers",
        "search rivers --format json",
        "search rivers --format csv",
        "show 1",
        "export",
        f"pages show {START}",
    ],
)
def test_a_person_who_needs_the_address_gets_it(
    geocrawl: Geocrawl, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "=***" in geocrawl(*command.split())[1], "else nothing was hidden"
    assert f"token={SECRET}" in geocrawl(*command.split(), "--secrets")[1]
    monkeypatch.setenv("GEOCRAWL_EXPORT_SECRETS", "true")
    assert f"token={SECRET}" in geocrawl(*command.split())[1]


@pytest.mark.parametrize("command", ["probe", "seeds list"])
def test_programs_that_go_on_with_addresses_get_them(geocrawl: Geocrawl, command: str) -> None:
    given = [SERVICE] if command == "probe" else []
    assert SECRET in geocrawl(*command.split(), *given, "--json", "--secrets")[1]


def test_a_full_address_is_found_and_a_masked_one_is_explained(geocrawl: Geocrawl) -> None:
    assert geocrawl("why", SERVICE)[0] == 0
    assert geocrawl("show", SERVICE)[0] == 0
    assert json.loads(geocrawl("why", SERVICE, "--json")[1])["endpoints"]
    code, said = geocrawl("why", SERVICE.replace(SECRET, "***"))
    assert code == 2 and "--secrets" in said


def test_the_catalogue_itself_holds_the_address_in_full(geocrawl: Geocrawl, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert geocrawl("export", "--format", "jsonl", "--out", str(out))[0] == 0
    assert SECRET not in out.read_text()
    assert geocrawl("export", "--format", "jsonl", "--out", str(out), "--secrets")[0] == 0
    assert SERVICE in out.read_text()
