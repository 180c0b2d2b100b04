"""A web that attacks: a proxy on loopback that answers for every name, with a path for each attack.

It is asked through `--proxy`, so any host name leads here and none is looked up. It counts what reaches it, the secret
place too that redirects, entities and DTDs point at.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from urllib.parse import parse_qs, urlsplit

from tests.attacks.bombs import ENCODINGS, bomb
from tests.support.loopback import Handler, Server, running

BOMB_MIB = 512
_PAGE_BYTES = 5_000_000  # just below the limit on pages
_HTML, _XML = "text/html; charset=utf-8", "text/xml"
SECRET = "/latest/meta-data/secret"
EVIL_TITLE = "x'); DROP TABLE url; --\x1b]0;owned\x07\x1b[2J\nlevel=error event=forged \u202egnp.exe"


def _filled(head: str, piece: str, tail: str = "", size: int = _PAGE_BYTES) -> bytes:
    return (head + piece * ((size - len(head) - len(tail)) // len(piece)) + tail).encode()


def _links() -> bytes:
    made, number, size = ["<title>links</title>"], 0, 0
    while size < _PAGE_BYTES - 40:
        made.append(f"<a href=/l/{number:x}>")
        size += len(made[-1])
        number += 1
    return "".join(made).encode()


def _laughs() -> str:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{entities}]>'


CAPABILITIES = """<?xml version="1.0" encoding="UTF-8"?>{doctype}
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms">
<Service><Name>WMS</Name><Title>{title}</Title></Service>
<Capability><Request><GetCapabilities><Format>text/xml</Format></GetCapabilities>
<GetMap><Format>image/png</Format></GetMap></Request>
<Layer><Title>all</Title><CRS>EPSG:4326</CRS><EX_GeographicBoundingBox><westBoundLongitude>0</westBoundLongitude>
<eastBoundLongitude>10</eastBoundLongitude><southBoundLatitude>0</southBoundLatitude>
<northBoundLatitude>10</northBoundLatitude></EX_GeographicBoundingBox>
<Layer><Name>roads</Name><Title>Roads</Title></Layer></Layer></Capability></WMS_Capabilities>"""


def image_bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of some kilobytes that would take gigabytes: truecolour, all zero, its data bounded for the sender."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(b"\0" * 2**20) for _ in range(400)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def documents() -> dict[str, tuple[str, Callable[[], bytes]]]:
    """Path → (type, body) of attacks that are one long answer."""
    external = f'<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1{SECRET}"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    return {
        "/small": (_HTML, lambda: b"<title>A small page</title><p>Nothing but text."),
        "/one-line": (_HTML, lambda: _filled("<title>long</title><p>", "ab ", size=_PAGE_BYTES)),
        "/one-line-10mb": (_HTML, lambda: _filled("<title>long</title><p>", "ab ", size=10_000_000)),
        "/links": (_HTML, _links),
        "/deep-html": (_HTML, lambda: _filled("<title>deep</title>", "<div>")),
        "/deep-lists": (_HTML, lambda: _filled("<title>deep</title>", "<ul><li><b><a href=x>")),
        "/deep-xml": (_XML, lambda: _filled('<?xml version="1.0"?>', "<a>")),
        "/attributes-html": (_HTML, lambda: b"<p " + b"".join(b"a%x=1 " % n for n in range(500_000)) + b">"),
        "/attributes-xml": (
            _XML,
            lambda: b"<WMS_Capabilities " + b"".join(b'a%x="" ' % n for n in range(450_000)) + b"/>",
        ),
        "/laughs": (_XML, (_laughs() + "<WMS_Capabilities>&l29;</WMS_Capabilities>").encode),
        "/quadratic": (
            _XML,
            lambda: _filled(f'<!DOCTYPE x [<!ENTITY e "{"e" * 100_000}">]><WMS_Capabilities>', "&e;", size=1_000_000),
        ),
        "/external": (_XML, lambda: CAPABILITIES.format(doctype=external, title="&e;&f;").encode()),
        "/dtd": (
            _XML,
            lambda: CAPABILITIES.format(doctype=f'<!DOCTYPE x SYSTEM "http://127.0.0.1{SECRET}">', title="t").encode(),
        ),
        "/brackets": (_HTML, lambda: _filled("<title>(((</title><script>var x = ", "[{(\"'")),
        "/equals": (_HTML, lambda: _filled("<p>", "http://a?&=")),
        "/spaces": (_HTML, lambda: _filled("<p>wms", " \t")),
        "/refresh": (_HTML, lambda: _filled("<meta http-equiv=refresh content='0", " ", "x'>")),
        "/spaces-json": ("application/json", lambda: _filled("", " \t") + b"{"),
        "/evil-title": (
            _HTML,
            f"<title>{EVIL_TITLE}</title><a href=/evil-wms?service=WMS>{EVIL_TITLE}</a>".encode,
        ),
    }


class Attacker(Server):
    """The server with its counts."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.asked = Counter[str]()
        """Requests by the first part of their path."""
        self.documents = documents()
        self._bodies: dict[str, bytes] = {}

    def body(self, path: str, make: Callable[[], bytes]) -> bytes:
        """A body that is made once."""
        if path not in self._bodies:
            self._bodies[path] = make()
        return self._bodies[path]


class _Handler(Handler):
    server: Attacker

    def respond(self) -> None:
        parts = urlsplit(self.path)
        path, query = parts.path, {name.lower(): values[0] for name, values in parse_qs(parts.query).items()}
        self.server.asked["/" + path.split("/")[1]] += 1
        name = path[1:].partition("/")[0]
        if path == "/robots.txt":
            self._send(b"", "text/plain", status=404)
        elif path in self.server.documents:
            kind, make = self.server.documents[path]
            self._send(self.server.body(path, make), kind)
        elif name.replace("-", " ") in ENCODINGS:
            encoding = name.replace("-", " ")
            self._send(bomb(encoding, BOMB_MIB), _HTML, fields={"Content-Encoding": ENCODINGS[encoding]})
        else:
            self._answer(name, path, parts.hostname or "", query)

    def _answer(self, name: str, path: str, host: str, query: dict[str, str]) -> None:
        number = int("".join(c for c in path.rpartition("/")[2] if c.isdigit()) or 0)
        if name in ("endless", "drip"):
            self._endless(b"<p>more" if name == "drip" else b" " * 65536, pause_s=0.25 if name == "drip" else 0.0)
        elif name == "headers":
            self._headers()
        elif name == "to-loopback":
            self._send(
                b"", _HTML, status=302, fields={"Location": f"http://127.0.0.1:{self.server.server_port}{SECRET}"}
            )
        elif name == "loop":
            self._send(b"", _HTML, status=302, fields={"Location": f"/loop/{number + 1}"})
        elif name in ("image-wms", "evil-wms"):
            self._service(name, query)
        elif (links := trap_links(name, number, host, path)) is not None:
            self._send(("<title>trap</title>" + "".join(f"<a href='{link}'>map</a>" for link in links)).encode(), _HTML)
        else:
            self._send(b"no", _HTML, status=404)

    def _service(self, name: str, query: dict[str, str]) -> None:
        if query.get("request", "").lower() == "getmap":
            self._send(self.server.body("/bomb.png", image_bomb), "image/png")
        else:
            title = "a map" if name == "image-wms" else _evil_xml(EVIL_TITLE)
            self._send(CAPABILITIES.format(doctype="", title=title).encode(), _XML)

    def _send(self, body: bytes, kind: str, *, status: int = 200, fields: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for field, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(fields or {})}.items():
            self.send_header(field, value)
        self.end_headers()
        self.write(body)

    def _headers(self) -> None:
        self.close_connection = True
        self.write(b"HTTP/1.1 200 OK\r\n")
        line = b"X-Flood: " + b"a" * 1000 + b"\r\n"
        while self.write(line):
            pass

    def _endless(self, piece: bytes, *, pause_s: float) -> None:
        self.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
        self.close_connection = True
        while self.write(piece):
            time.sleep(pause_s)


def _evil_xml(text: str) -> str:
    """What XML may hold of it."""
    return text.replace("\x1b", "").replace("\x07", "")


def trap_links(name: str, number: int, host: str, path: str) -> list[str] | None:
    """The links of the n-th page of an endless trap; None when there is no trap of this name."""
    near = (2 * number + 1, 2 * number + 2)
    traps = {
        "calendar": [f"/calendar/{2024 + n % 3}/{n % 12 + 1}/event-{n}" for n in near],
        "sessions": [f"/sessions/p;s={n:032x}/{n}" for n in near],
        "facets": [f"/facets/find/{n}?a={n % 3}&b={n % 7}&c={n}" for n in near],
        "hosts": [f"http://{_word(n)}.hosts.example/hosts/" for n in _host_numbers(host)],
        "loops": [f"{path.rstrip('/')}/deeper/more/", f"{path.rstrip('/')}/more/deeper/"],
        "services": [f"/services/{n}" for n in near] + [f"/evil-wms?service=WMS&map={number}"],
    }
    return traps.get(name)


def _host_numbers(host: str) -> tuple[int, ...]:
    word = host.partition(".")[0]
    number = int("".join(str("abcdefghij".index(c)) for c in word)) if set(word) <= set("abcdefghij") else 0
    return tuple(10 * number + n for n in range(1, 10))


def _word(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def attacker() -> AbstractContextManager[Attacker]:
    """A running server on loopback."""
    return running(Attacker())
