"""Make the whole demo web with its truth (which pages exist, their depth, which endpoints are valid or why not), and
serve it: an HTTP proxy on 127.0.0.1 that answers for every host of the demo and for no other."""

from __future__ import annotations

import datetime
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from geocrawl.demo import sites
from geocrawl.demo.kinds import OFFICES, answer_of, find_kind
from geocrawl.demo.services import SERVICES, DemoAnswer, DemoService, answer, find_service
from geocrawl.demo.sites import DemoPage
from geocrawl.urls import endpoint_key, read_url

SEEDS = ("http://www.norvale-geoportal.example/", "http://www.qingshan-map.example/")
ROBOTS: Mapping[str, str] = {
    "www.norvale-geoportal.example": "User-agent: *\nDisallow: /internal/\nDisallow: /download/\n",
    "maps.norvale-geoportal.example": "User-agent: *\nDisallow: /geoserver/draft/\n",
    "secure.norvale-geoportal.example": "User-agent: *\nDisallow: /\n",
    "shop.lanternlane.example": "User-agent: *\nDisallow: /cart\n",
    "www.qingshan-map.example": "User-agent: *\nDisallow:\n",
}
"""By host; the others have none (404)."""

_FAR = 1_000_000
_SESSION = re.compile(r";jsessionid=[^/?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DemoContent:
    """All pages and services, and what a crawl should find."""

    pages: Mapping[str, DemoPage]
    """By address without session id; the months of the calendar are made on request."""
    hosts: frozenset[str]
    """host[:port] of all pages and services."""
    depths: Mapping[str, int]
    """Least depth of every page that is reachable from the seeds with robots.txt obeyed, by address."""
    expected: Mapping[str, DemoService]
    """Services that a reachable page links to, by endpoint key, without those that robots.txt forbids."""
    refused: frozenset[str]
    """Keys of the services that a reachable page links to and robots.txt forbids."""

    @property
    def expected_valid(self) -> frozenset[str]:
        """Return the keys of the endpoints that a complete crawl finds valid."""
        return frozenset(key for key, service in self.expected.items() if service.valid)

    @property
    def expected_invalid(self) -> Mapping[str, str]:
        """Return the reason code of each endpoint that a complete crawl finds invalid."""
        return {key: service.reason for key, service in self.expected.items() if not service.valid}


def build_content() -> DemoContent:
    """Make all sites and compute their truth; every call returns the same."""
    built = (
        sites.geoportal(),
        sites.catalogue(),
        sites.agency(),
        sites.network(),
        sites.university(),
        sites.platform(),
        sites.newspaper(),
        sites.shop(),
    )
    pages = {page.address: page for site in built for page in site.pages}
    depths = _depths(pages)
    exposed = dict(_exposed(pages, depths))
    addresses = [*pages, *(service.address for service in SERVICES)]
    return DemoContent(
        pages=pages,
        hosts=frozenset([*(urlsplit(address).netloc for address in addresses), *(office.host for office in OFFICES)]),
        depths=depths,
        expected={key: service for key, service in exposed.items() if service.allowed},
        refused=frozenset(key for key, service in exposed.items() if not service.allowed),
    )


def without_session(address: str) -> str:
    """Return the address of the page to which a link with a session id leads."""
    return _SESSION.sub("", address)


def is_disallowed(address: str) -> bool:
    """Return whether robots.txt forbids an address (plain prefixes, as in ROBOTS)."""
    parts = urlsplit(address)
    rules = ROBOTS.get(parts.netloc, "").splitlines()
    prefixes = [line.partition(":")[2].strip() for line in rules if line.startswith("Disallow")]
    return any(prefix and parts.path.startswith(prefix) for prefix in prefixes)


def _depths(pages: Mapping[str, DemoPage]) -> dict[str, int]:
    """Return the depth of each page, breadth first; the target of a redirect is as deep as its source."""
    depths = dict.fromkeys(SEEDS, 0)
    waiting = deque(SEEDS)
    while waiting:
        address = waiting.popleft()
        redirect = pages[address].status != 200
        for link in map(without_session, pages[address].links):
            depth = depths[address] + (not redirect)
            if link in pages and depth < depths.get(link, _FAR) and not is_disallowed(link):
                depths[link] = depth
                (waiting.appendleft if redirect else waiting.append)(link)
    return depths


def _exposed(pages: Mapping[str, DemoPage], depths: Iterable[str]) -> Iterable[tuple[str, DemoService]]:
    for address in depths:
        for link in pages[address].links:
            parts = urlsplit(link)
            service = find_service(parts.netloc, parts.path, parts.query)
            if service is not None and "service=wfs" not in link.lower():
                yield key_of(service), service


def key_of(service: DemoService) -> str:
    """Return the endpoint key of a service."""
    url = read_url(service.address)
    assert url is not None, "addresses of the demo are well-formed"
    return endpoint_key(url)


# --------------------------------------------------------------------------- server


_NEWSPAPER = "www.norvale-courier.example"


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A line of the access log."""

    method: str
    url: str
    status: int
    kind: str
    """page, redirect, robots, service, unknown (nothing there)."""
    user_agent: str


class DemoWeb:
    """A server of the demo web while its context is open: `with DemoWeb() as demo:`; crawl through its `proxy_url`."""

    def __init__(self, *, port: int = 0, latency_s: float = 0.0, today: datetime.date | None = None) -> None:
        """Port 0 means any free port; `latency_s` passes before every answer; the calendar opens at `today`."""
        self.content: DemoContent = build_content()
        self.requests: list[LoggedRequest] = []
        """The access log, in the order of the answers."""
        self.most_at_once: Counter[str] = Counter()
        """Host → most concurrent requests."""
        self._under_way: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._latency_s = latency_s
        self._today = today or datetime.datetime.now(datetime.UTC).date()
        self._port = port
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        web = self

        class Handler(_Handler):
            def answer(self, url: str) -> None:
                self.send(*web.respond(self.command, url, self.headers.get("User-Agent", "")))

        self._server = _Server(("127.0.0.1", self._port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    @property
    def proxy_url(self) -> str:
        """Return the address of the proxy that serves the web, http://127.0.0.1:port."""
        if self._server is None:
            raise RuntimeError("the demo web is served within its context only: `with DemoWeb() as web:`")
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def seeds(self) -> tuple[str, ...]:
        """Return the start pages."""
        return SEEDS

    @property
    def expected_valid(self) -> frozenset[str]:
        """Return the keys of the endpoints that a complete crawl finds valid."""
        return self.content.expected_valid

    @property
    def expected_invalid(self) -> Mapping[str, str]:
        """Return, by key, the reason code of each endpoint that a complete crawl finds invalid."""
        return self.content.expected_invalid

    def respond(self, method: str, url: str, user_agent: str = "") -> tuple[DemoAnswer, bool]:
        """Log a request; return its answer, and whether to omit the body (HEAD)."""
        with self._counted(urlsplit(url).hostname or ""):
            if self._latency_s:
                time.sleep(self._latency_s)
            known = method in ("GET", "HEAD")
            kind, found = self._find(url) if known else ("unknown", _plain(405, "GET and HEAD only"))
        self.requests.append(LoggedRequest(method, url, found.status, kind, user_agent))
        return found, method == "HEAD"

    @contextmanager
    def _counted(self, host: str) -> Iterator[None]:
        with self._lock:
            self._under_way[host] += 1
            self.most_at_once[host] = max(self.most_at_once[host], self._under_way[host])
        yield
        with self._lock:
            self._under_way[host] -= 1

    def _find(self, url: str) -> tuple[str, DemoAnswer]:
        parts = urlsplit(url)
        host = parts.netloc.lower().removesuffix(":80")
        path = parts.path or "/"
        if parts.scheme != "http" or host not in self.content.hosts:
            return "unknown", _plain(502, "no such host in the demo web")
        if path == "/robots.txt":
            name = host.partition(":")[0]
            return "robots", _plain(200, ROBOTS[name]) if name in ROBOTS else _plain(404, "no robots.txt")
        service = find_service(host, path, parts.query)
        if service is not None:
            return "service", answer(service, parts.query)
        if (of_a_kind := find_kind(host, path)) is not None:
            return "service", answer_of(*of_a_kind, parts.query)
        if (host, path) == (_NEWSPAPER, sites.CALENDAR_PATH):
            return "page", self._calendar(parts.query)
        return self._page(without_session(f"http://{host}{path}" + (f"?{parts.query}" if parts.query else "")))

    def _page(self, address: str) -> tuple[str, DemoAnswer]:
        page = self.content.pages.get(address)
        if page is None:
            return "unknown", _plain(404, "there is nothing here")
        if page.status != 200:
            return "redirect", DemoAnswer(page.status, "text/html", b"", (("Location", page.links[0]),))
        return "page", DemoAnswer(200, page.content_type, page.body)

    def _calendar(self, query: str) -> DemoAnswer:
        values = parse_qs(query)
        year, month = (values.get(name, [""])[0] for name in ("year", "month"))
        if not query:
            page = sites.calendar_page(self._today, None, None)
        elif year.isdecimal() and month.isdecimal() and 1 <= int(year) <= 9999 and 1 <= int(month) <= 12:
            page = sites.calendar_page(self._today, int(year), int(month))
        else:
            return _plain(404, "no such month")
        return DemoAnswer(200, page.content_type, page.body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect, as a crawl that is killed does."""


class _Handler(BaseHTTPRequestHandler):
    """Keep-alive, the whole answer in one piece (a second small write would wait for the client's acknowledgement)."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    timeout = 60

    def answer(self, url: str) -> None:
        """Answer the request for an absolute URL."""
        raise RuntimeError("made by DemoWeb with its own answer")

    def do_GET(self) -> None:
        """Answer a request, whose URL is complete as sent to a proxy, else made from the Host header."""
        if self.path.startswith("/"):
            self.answer(f"http://{self.headers.get('Host', '')}{self.path}")
        else:
            self.answer(self.path)

    def do_HEAD(self) -> None:
        """Answer the request without a body."""
        self.do_GET()

    def do_CONNECT(self) -> None:
        """Refuse tunnels: the demo has no https."""
        self.close_connection = True
        self.send(_plain(502, "no https in the demo web"), False)

    def send(self, found: DemoAnswer, without_body: bool) -> None:
        """Write the head and the body of the answer."""
        self.send_response(found.status)
        for name, value in found.headers:
            self.send_header(name, value)
        self.send_header("Content-Type", found.content_type)
        self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        if not without_body:
            self.wfile.write(found.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the access log is `DemoWeb.requests`."""


def _plain(status: int, text: str) -> DemoAnswer:
    return DemoAnswer(status, "text/plain; charset=utf-8", text.encode())
