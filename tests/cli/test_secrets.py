"""Keys, tokens and passwords in addresses: no command prints them unless it is asked to, and all find by them."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from lxml import etree
from starlette.testclient import TestClient

from geocrawl.cli import main
from geocrawl.cli.output import print_table
from geocrawl.cli.registry import COMMANDS
from geocrawl.export.services import SERVICE_FORMATS
from geocrawl.export.tables import FORMATS
from geocrawl.settings import Settings
from geocrawl.web.application import make_application
from geocrawl.web.csw.process import CswOptions, CswProcess
from geocrawl.web.downloads import FILES
from geocrawl.web.options import Options
from tests.attacks.attackers import CAPABILITIES
from tests.support.receivers import Hook, MailServer
from tests.web.test_csw import free_port, python, wait_for

__all__ = ["python"]

SECRET = "sesame"
MONTH = time.strftime("%Y-%m", time.gmtime())
START = f"http://www.example/start?sid={SECRET}"
SERVICE = f"http://maps.example/wms?token={SECRET}"
TWIN = f"https://twin.example/wms?map=a&api_key={SECRET}"
BROKEN = f"http://broken.example/wms?pwd={SECRET}"
GONE = f"http://www.example/gone?access_token={SECRET}"
NESTED = f"http://www.example/proxy?url=http%3A%2F%2Fmaps.example%2Fwms%3Ftoken%3D{SECRET}"
OLD = f"http://old.example/wms?key={SECRET}"
AWAY, LOOP = f"http://www.example/away?sig={SECRET}", f"http://www.example/loop?key={SECRET}"
PAGE = f"""<title>Maps by http://u:p@{SECRET}@inner.example/</title>
<a href="{SERVICE}&service=WMS&request=GetCapabilities">
WMS of {SERVICE}</a>
<a href="{BROKEN}&service=WMS">WMS</a><a href="{GONE}">maps</a><a href="{NESTED}">map</a> wms wms map
<a href="{TWIN}&service=WMS&request=GetCapabilities">the same</a><a href="{OLD}&service=WMS">WMS that will move</a>
<a href="{AWAY}">WMS maps of http:/u:{SECRET}@inner.example/</a><a href="{LOOP}">maps</a>
<a href="http://busy.example/wms?service=WMS&apikey=a;{SECRET}">WMS</a>
<a href="http://login.example/wms?service=WMS&passwd=a'{SECRET}">WMS</a>
<a href="http://torn.example/wms?service=WMS&x-api-key={SECRET}&access_token={SECRET}">WMS</a>
<a href="http://long.example/wms?service=WMS&access_token={SECRET * 900}">WMS</a>
<a href="http://dead.example/wms?service=WMS&psw={SECRET}">WMS</a>
<a href="http://elsewhere.example/wms?service=WMS&hmac={SECRET}">WMS</a>"""
EXCEPTION = f"""<?xml version="1.0"?><ServiceExceptionReport xmlns="http://www.opengis.net/ogc"><ServiceException>
cannot open http://admin:{SECRET}@inner.example/x?key={SECRET}</ServiceException></ServiceExceptionReport>"""
ROBOTS = f"User-agent: *\nDisallow: /no?key={SECRET}\nSitemap: http://www.example/map.xml?token={SECRET}\n"
SITEMAP = f"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>
<loc>http://www.example/listed?password=a;{SECRET}</loc></url></urlset>"""
REDIRECTS = {
    ("www.example", "/away"): (302, f"http://u:p@{SECRET}@www.example/end?auth={SECRET}"),
    ("www.example", "/loop"): (302, LOOP),
    ("login.example", "/wms"): (302, f"http://login.example/login?next=http%3A%2F%2Fx%3Ftoken%3D{SECRET}&pw={SECRET}"),
    ("elsewhere.example", "/robots.txt"): (301, f"http://u:{SECRET}@elsewhere.example/r?key={SECRET}"),
}
"""Host and path: status and Location. The service at OLD moves when it is asked again."""


class _Web(BaseHTTPRequestHandler):
    """A proxy for every host: a page, a service under two names whose texts hold passwords, one that is broken."""

    title = "Roads"

    def do_GET(self) -> None:
        host, path = urlsplit(self.path).hostname or "", urlsplit(self.path).path
        status, kind, body = 404, "text/plain", f"no {self.path}"
        headers = {}
        if path == "/start":
            status, kind, body = 200, "text/html", PAGE
        elif (host, path) == ("www.example", "/robots.txt"):
            status, body = 200, ROBOTS
        elif path == "/map.xml":
            status, kind, body = 200, "text/xml", SITEMAP
        elif path == "/end":
            status, kind, body = 200, "text/html", f"<title>End of {self.path}</title><p>map wms {AWAY}"
        elif (host, path) in REDIRECTS:
            status, headers["Location"] = REDIRECTS[host, path]
        elif host == "busy.example" and path == "/wms":
            status, headers["Retry-After"], body = 503, "60", f"{self.path} is busy"
        elif host == "dead.example":
            status, body = 502, f"cannot connect to {self.path}"
        elif host == "torn.example" and path == "/wms":
            status, kind, body = (
                200,
                "text/xml",
                _capabilities("Torn").partition("</Title>")[0] + f"token={SECRET * 20}",
            )
        elif host == "broken.example" and path == "/wms":
            status, kind, body = 200, "text/xml", EXCEPTION
        elif path == "/wms":
            status, kind, body = 200, "text/xml", _capabilities(type(self).title)
        if host == "old.example" and path == "/wms" and type(self).title != "Roads":
            status, headers["Location"] = 301, f"http://new.example/wms?token={SECRET}"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
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
    contact = f"<ContactInformation><ContactPosition>http://u:{SECRET}@x/</ContactPosition></ContactInformation>"
    style = f"<Style><Name>a</Name><Title>?key={SECRET}</Title></Style>"
    fees = f"<Fees>pay at http:/u:{SECRET}@x/</Fees><AccessConstraints>http://x/?jwt={SECRET}</AccessConstraints>"
    words = f"<KeywordList><Keyword>http://x/?sessionid={SECRET}</Keyword></KeywordList>"
    text = text.replace(
        "</Title></Layer>", f"</Title><Abstract>by http://x/?tk={SECRET}</Abstract>{words}{style}</Layer>"
    )
    return text.replace("</Title></Service>", f"</Title>{words}{online}{contact}{fees}</Service>")


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
            "STORE_PAGES_MIN_SCORE": "0.000001",
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

        (home / "list.csv").write_text(f"name,url,layer\n?token={SECRET},{SERVICE},rivers\nbroken,{BROKEN},x\n")
        (home / "watched.txt").write_text(f"{SERVICE}\nftp://x.example/?token={SECRET}\n{BROKEN}\n")
        (home / "bad.txt").write_text(f"{START}\nno address http://u:{SECRET}@x\nnone ?token={SECRET}\n")
        for first in (("crawl", START, TWIN, "--log-json"), ("seeds", "add", START, GONE)):
            code, said = run(*first)
            assert code == 0 and SECRET not in said, said
        patch.setattr(_Web, "title", "Rivers")
        for changed in (SERVICE, OLD):
            assert SECRET not in run("probe", "--save", changed)[1]
        yield run
        patch.undo()
        server.shutdown()


PRINTING: dict[str, list[list[str]]] = {
    "changes": [[], ["--json"]],
    "check": [[]],
    "check-list": [["list.csv"], *(["list.csv", "--format", form] for form in ("json", "junit", "markdown", "sarif"))],
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
        ["--month", MONTH, "--format", "csv"],
        ["--by", "provider"],
    ],
    "watch add": [[SERVICE, "--to", f"https://hooks.example/?token={SECRET}"], ["rivers", "--to", "mail:anna"]],
    "watch ack": [[SERVICE]],
    "watch downtime": [[], ["--json"], [SERVICE, "--to", "2030-01-01"], [f"http://x.example/?token={SECRET}"]],
    "watch import": [["watched.txt"], ["watched.txt", "--json"]],
    "watch list": [[], ["--json"]],
    "watch remove": [["1"]],
    "watch send": [[], ["--json"]],
    "release": [[f"http://maps.example/?token={SECRET}"]],
}
WITHOUT_ADDRESSES = set(
    [
        "backup",
        "daemon",
        "demo",
        "evaluate",
        "kinds",
        "mcp",
        "pause",
        "publish",
        "reload",
        "restore",
        "resume",
        "serve",
        "snapshot",
        "stop",
    ]
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


def test_a_service_is_known_by_the_address_that_is_printed_without_its_secret(geocrawl: Geocrawl) -> None:
    addresses = [each["url"] for each in json.loads(geocrawl("search", "", "--json")[1])]
    address = next(each for each in addresses if "=***" in each)
    for command in ("show", "history", "why"):
        code, said = geocrawl(command, address)
        assert code == 0 and SECRET not in said, command
    assert "valid" in geocrawl("why", f"{address}&SERVICE=WMS&REQUEST=GetCapabilities")[1]
    assert geocrawl("show", address.replace("token", "key"))[0] != 0, "another parameter's"
    code, said = geocrawl("merge", address, "1")
    assert code != 0 and "*** stands for a secret" in said, "it may be that of several services"


@pytest.mark.parametrize("command", ["probe", "seeds list"])
def test_programs_that_go_on_with_addresses_get_them(geocrawl: Geocrawl, command: str) -> None:
    given = [SERVICE] if command == "probe" else []
    assert SECRET in geocrawl(*command.split(), *given, "--json", "--secrets")[1]


def test_a_full_address_is_found(geocrawl: Geocrawl) -> None:
    assert geocrawl("why", SERVICE)[0] == 0
    assert geocrawl("show", SERVICE)[0] == 0
    assert json.loads(geocrawl("why", SERVICE, "--json")[1])["endpoints"]


def test_the_catalogue_itself_holds_the_address_in_full(geocrawl: Geocrawl, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert geocrawl("export", "--format", "jsonl", "--out", str(out))[0] == 0
    assert SECRET not in out.read_text()
    assert geocrawl("export", "--format", "jsonl", "--out", str(out), "--secrets")[0] == 0
    assert SERVICE in out.read_text()


@pytest.mark.parametrize("format_", [*FORMATS, *SERVICE_FORMATS])
def test_a_file_that_is_exported_holds_no_secret(geocrawl: Geocrawl, tmp_path: Path, format_: str) -> None:
    out = tmp_path / "out"
    assert geocrawl("export", "--format", format_, "--out", str(out))[0] == 0
    written = [each.read_bytes() for each in (out, *out.rglob("*")) if each.is_file()]
    assert written and not any(SECRET.encode() in each for each in written)


@pytest.mark.parametrize(
    "arguments",
    [f"report --month {MONTH} --out {{}}.html", f"report --month {MONTH} --format csv --out {{}}.csv",
     "stats --picture deviations --out {}.svg", "pages export --out {}.warc", "pages export --format text --out {}"],
)  # fmt: skip
def test_no_file_of_reports_and_pages_names_a_secret_in_an_address(
    geocrawl: Geocrawl, tmp_path: Path, arguments: str
) -> None:
    code, said = geocrawl(*arguments.format(tmp_path / "out").split())
    assert code == 0, said
    written = [each for each in tmp_path.rglob("*") if each.is_file()]
    for file in written:
        content = file.read_bytes()
        lines = (gzip.decompress(content) if file.suffix == ".warc" else content).splitlines()
        named = [line for line in lines if file.suffix != ".warc" or line.startswith(b"WARC-")]
        assert SECRET not in file.name and named and not any(SECRET.encode() in line for line in named), file
    assert written


@pytest.mark.long
def test_a_site_of_files_holds_no_secret(geocrawl: Geocrawl, tmp_path: Path) -> None:
    code, said = geocrawl("publish", "--out", str(tmp_path / "site"), "--base-url", "https://a.example/")
    assert code == 0, said
    files = [each for each in (tmp_path / "site").rglob("*") if each.is_file()]
    assert len(files) > 5
    for file in files:
        content = file.read_bytes()
        plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        assert SECRET not in file.name and SECRET.encode() not in plain, file


def test_the_web_page_and_its_interfaces_show_no_secret(geocrawl: Geocrawl) -> None:
    with TestClient(make_application(Options(Path("c.db"), requests_per_minute=0), Settings())) as client:
        items = "/collections/services/items"
        paths = [
            "/",
            items,
            f"{items}?q=rivers",
            f"{items}?q={SECRET}x",
            f"{items}?externalIds={SERVICE}",
            "/providers",
        ]
        ends = "layers layer.qlr health history changes months badge.svg preview nothing"
        parts = ("", *(f"/{end}" for end in ends.split()))
        paths += [f"{items}/{number}{part}" for number in range(1, 8) for part in parts]
        paths += ["/operations", "/statistics", "/feed.atom", "/feed.json", "/sitemap.xml", "/sitemap-1.xml"]
        paths += [f"{items}?f={format_}" for format_ in FILES]
        for path in paths:
            for accept in ("text/html", "application/json"):
                answer = client.get(path, headers={"Accept": accept}, follow_redirects=False)
                said = answer.text.replace(f"{SECRET}x", "").replace(quote(SERVICE), "").replace(SERVICE, "")
                assert SECRET not in said + str(answer.headers), (path, accept, said)


@pytest.mark.servers
def test_no_record_of_csw_holds_a_secret_and_none_is_found_by_one(geocrawl: Geocrawl, python: Path) -> None:
    port, asked = free_port(), {"service": "CSW", "typenames": "csw:Record", "maxrecords": "100"}
    address = f"http://127.0.0.1:{port}/"
    with CswProcess(python, CswOptions(Path("c.db").absolute(), port=port)):
        wait_for(address)

        def get(version: str, **named: str) -> Any:
            shown = {"elementsetname": "full", "resulttype": "results"}
            answer = httpx.get(address, params={**asked, **shown, "version": version, **named}, timeout=240)
            return etree.fromstring(answer.content)

        capabilities = get("2.0.2", request="GetCapabilities")
        schemas = capabilities.xpath("//*[@name = 'GetRecords']/*[@name = 'outputSchema']/*/text()")
        columns = capabilities.xpath("//*[contains(@name, 'Queryables')]/*/text()")
        answers = {
            **{each: get("2.0.2", request="GetRecords", outputschema=each) for each in schemas},
            **{each: get("2.0.2", request="GetDomain", propertyname=each) for each in columns},
            **{each: get("2.0.2", request="GetRecordById", id=f"urn:geocrawl:service:{each}") for each in "123"},
            "3.0": get("3.0.0", request="GetRecords"),
            "by a word": get("3.0.0", request="GetRecords", q="rivers"),
        }
        found = get("3.0.0", request="GetRecords", q=SECRET)
    assert len(schemas) >= 4 and len(columns) > 10
    said = {name: etree.tostring(answer, encoding="unicode") for name, answer in answers.items()}
    assert "token=***" in said["3.0"] and "***" in said["by a word"], "else nothing was hidden"
    assert not [name for name, answer in said.items() if SECRET in answer]
    assert found.xpath("//@numberOfRecordsMatched") == ["0"]


def test_notices_name_a_service_without_its_secrets(
    geocrawl: Geocrawl, hook: Hook, mails: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOCRAWL_MAIL_SERVER", mails.address)
    monkeypatch.setenv("GEOCRAWL_MAIL_SECURITY", "none")
    for to in (hook.address, "mail:a@b.example", "file:notices.jsonl"):
        assert geocrawl("watch", "add", "kind:wms", "--to", to, "--allow-private")[0] == 0
    assert geocrawl("probe", "--save", f"http://fresh.example/wms?token={SECRET}")[0] == 0
    assert "3 messages sent" in geocrawl("watch", "send", "--allow-private")[1]
    told = [hook.received[0][2].decode(), mails.received[0][1].as_string(), Path("notices.jsonl").read_text()]
    assert not [each for each in told if SECRET in each.replace(hook.address, "")]
    assert all("fresh.example" in each for each in told)


KNOWN_BY_ADDRESS = {
    ("description", "family"),
    ("description", "key"),
    ("endpoint", "key"),
    ("endpoint", "moved_to"),
    ("endpoint", "url"),
    ("evidence", "link"),
    ("evidence", "page"),
    ("host", "troubled_address"),
    ("page_store", "body"),
    ("robots", "body"),
    ("seed", "address"),
    ("seed", "identity"),
    ("service", "online_resource"),
    ("url", "address"),
    ("watch", "recipient"),
}
"""Columns that need the address as it was found, to ask it again or to know it again (docs/safety.md)."""


def test_the_catalogue_holds_secrets_in_the_columns_of_addresses_alone(geocrawl: Geocrawl) -> None:
    geocrawl("status")
    with closing(sqlite3.connect("c.db")) as database:
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        tables = [
            name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        ]
        columns = [(table, row[1]) for table in tables for row in database.execute(f"PRAGMA table_info({table})")]
        holding = {
            (table, name)
            for table, name in columns
            if any(SECRET in str(value) for (value,) in database.execute(f'SELECT "{name}" FROM "{table}"'))
        }
    assert holding <= KNOWN_BY_ADDRESS, sorted(holding - KNOWN_BY_ADDRESS)
    assert ("endpoint", "url") in holding, "else nothing was looked for"
