"""Every page and interface of `geocrawl serve`, request over HTTP: status, headers, body."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import quote

from PIL import Image

from tests.golden import columns
from tests.golden.catalogue import CONTACT, Catalogue
from tests.golden.layout import Layout
from tests.golden.masks import VOLATILE_HEADERS
from tests.support.processes import Started, clean_environment, geocrawl

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
ITEMS = "/collections/services/items"
PAGES = {
    "start": "/",
    "conformance": "/conformance",
    "api": "/api",
    "collections": "/collections",
    "collection": "/collections/services",
    "sortables": "/collections/services/sortables",
    "search": ITEMS,
    "search-water": f"{ITEMS}?q=water",
    "item-1": f"{ITEMS}/1",
}
"""Name → path of what is a page for people, in English and Chinese, and JSON for programs."""
CHINESE = ("item-5", "operations", "statistics", "bad-parameter")
"""Pages for people alone that are request in Chinese, too."""
HTML_ALONE = {
    "search-mistyped": f"{ITEMS}?q=glaceir",
    "search-nothing": f"{ITEMS}?q=xyzzy",
    "search-filters": f"{ITEMS}?q=glacier&kind=wms&sortby=-title",
    "search-box": f"{ITEMS}?bbox=100,20,130,50",
    "search-second": f"{ITEMS}?limit=10&offset=10",
    "item-5": f"{ITEMS}/5",
    "item-7": f"{ITEMS}/7",
    "item-15": f"{ITEMS}/15",
    "layers-1": f"{ITEMS}/1/layers",
    "layers-1-found": f"{ITEMS}/1/layers?q=roads",
    "operations": "/operations",
    "statistics": "/statistics",
    "bad-parameter": f"{ITEMS}?colour=red",
    "no-item": f"{ITEMS}/999",
    "nothing-there": "/nothing",
}
PROGRAMS = {
    "queryables": "/collections/services/queryables",
    "schema": "/collections/services/schema",
    **{f"items/{number}": f"{ITEMS}/{number}" for number in (4, 7, 15, 25)},
    "search/box": f"{ITEMS}?bbox=100,20,130,50",
    "search/datetime": f"{ITEMS}?datetime=2020-01-01/..&limit=2",
    "search/past": f"{ITEMS}?datetime=../2020-01-01",
    "search/type": f"{ITEMS}?type=service&limit=1",
    "search/ids": f"{ITEMS}?ids=3,4,999",
    "search/external-ids": f"{ITEMS}?externalIds=http://gis.uni-norvale.example/glacier/wms",
    "search/second": f"{ITEMS}?limit=2&offset=3&sortby=title",
    "search/newest": f"{ITEMS}?limit=30&sortby=-created",
    "search/health": f"{ITEMS}?limit=3&sortby=health",
    "search/facets": f"{ITEMS}?facets=kind,country&limit=1&q=地图",
    "search/kinds": f"{ITEMS}?kind=wfs&limit=30",
    "bad/parameter": f"{ITEMS}?colour=red",
    "bad/limit": f"{ITEMS}?limit=many",
    "bad/box": f"{ITEMS}?bbox=1,2,3",
    "bad/sort": f"{ITEMS}?sortby=colour",
    "search/filter": f"{ITEMS}?limit=3&filter=type = 'wfs' AND quality > 10",
    "bad/filter": f"{ITEMS}?filter=title LIKE",
    "bad/datetime": f"{ITEMS}?datetime=yesterday",
    "bad/format": "/?f=xml",
    "bad/item": f"{ITEMS}/999",
    "bad/number": f"{ITEMS}/one",
    "bad/path": "/nothing",
    "bad/static": "/static/nothing.js",
    "bad/long": f"/?q={'x' * 8_100}",
    **{f"item/{form}": f"{ITEMS}/1?f={form}" for form in ("dcat", "iso19139", "iso19115-3")},
    "item/health": f"{ITEMS}/1/health",
    "item/history": f"{ITEMS}/1/history",
    "item/changes": f"{ITEMS}/1/changes",
    "item/badge": f"{ITEMS}/1/badge.svg",
    "item/thumbnail": f"{ITEMS}/1/thumbnail",
    "item/no-thumbnail": f"{ITEMS}/15/thumbnail",
    "item/preview": f"{ITEMS}/1/preview?layer=1&bbox=7.2,46.1,9.4,47.8&width=300&height=200",
    "item/no-preview": f"{ITEMS}/15/preview",
    "feeds/atom": "/feed.atom",
    "feeds/json": "/feed.json",
    "opensearch": "/opensearch.xml",
    "sitemap": "/sitemap.xml",
    "sitemap-1": "/sitemap-1.xml",
    "robots": "/robots.txt",
}
"""Name → path of what is request without a wish for a format."""
USUAL: Mapping[str, str] = {
    "access-control-allow-origin": "*",
    "cache-control": "no-cache",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "manifest-src 'self'",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "geolocation=(), camera=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "vary": "Accept, Accept-Encoding, Accept-Language, HX-Request",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers that nearly all answers have: a text names those that are lacking or have another value."""


class PageRequest(NamedTuple):
    """A request."""

    path: str
    headers: Mapping[str, str]
    method: str = "GET"


def requests() -> dict[str, PageRequest]:
    """Return all requests by name."""
    chinese = {**HTML, "Accept-Language": "zh-CN,zh;q=0.9"}
    people = {f"html/{name}": PageRequest(path, HTML) for name, path in {**PAGES, **HTML_ALONE}.items()}
    return {
        **people,
        **{f"chinese/{name}": PageRequest(people[f"html/{name}"].path, chinese) for name in (*PAGES, *CHINESE)},
        **{f"json/{name}": PageRequest(path, {"Accept": "application/json"}) for name, path in PAGES.items()},
        **{f"json/{name}": PageRequest(path, {}) for name, path in PROGRAMS.items()},
        "html/part": PageRequest(f"{ITEMS}?q=glacier", {**HTML, "HX-Request": "true"}),
        "html/lang": PageRequest("/?lang=zh", HTML),
        "json/head": PageRequest("/", {"Accept": "application/json"}, "HEAD"),
        "json/options": PageRequest("/", {}, "OPTIONS"),
        "json/post": PageRequest(ITEMS, {}, "POST"),
        "json/other-host": PageRequest("/", {"Host": "evil.example"}),
    }


def texts(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield name and text of each answer, of the files that pages load, and of a page that has not changed."""
    with catalogue.copy() as copy, _served(copy) as port:
        static = set()
        for name, request in requests().items():
            status, headers, body = ask(port, request)
            static |= set(re.findall(r'(?:src|href)="(/static/[^"]+)"', body.decode("utf-8", "replace")))
            yield f"web/{name}", copy.masked(_shown(status, headers, body, copy.layout))
        yield "web/static", "".join(f"{path} {_static(port, path)}\n" for path in sorted(static))
        _, headers, _ = ask(port, PageRequest("/", HTML))
        unchanged = ask(port, PageRequest("/", {**HTML, "If-None-Match": dict(headers)["etag"]}))
        yield "web/html/unchanged", copy.masked(_shown(*unchanged, copy.layout))


def ask(port: int, request: PageRequest) -> tuple[int, list[tuple[str, str]], bytes]:
    """Send a request; return status, headers and body of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(request.method, quote(request.path, safe="/?&=,:.-"), headers=dict(request.headers))
        answer = connection.getresponse()
        return answer.status, [(name.lower(), value) for name, value in answer.getheaders()], answer.read()
    finally:
        connection.close()


def _shown(status: int, headers: list[tuple[str, str]], body: bytes, layout: Layout) -> str:
    """Return an answer as text: HTML, XML and JSON in lines of a readable width, pictures as a hash."""
    kind = dict(headers).get("content-type", "")
    lines = [str(status), *_unusual(headers)]
    if not body:
        text = ""
    elif "json" in kind:
        text = layout.json(columns.of_json(json.loads(body)))
    elif kind.startswith(("image/png", "image/jpeg")):
        text = _picture(body)
    else:
        text = layout.markup(columns.of_page(_at_once(body.decode())))
    return "\n".join([*lines, "", text.rstrip(), ""])


def _at_once(text: str) -> str:
    """Return a page as it is right after the crawl: a busy machine takes minutes to make all pages."""
    return re.sub(r"\d+ 分钟前", "刚刚", re.sub(r"\b\d+ minutes? ago", "just now", text))


def _unusual(headers: list[tuple[str, str]]) -> list[str]:
    """Return a line for each header that is not as usual."""
    shown = [(name, f"<{name}>" if name in VOLATILE_HEADERS else value) for name, value in sorted(headers)]
    unusual = [f"{name}: {value}" for name, value in shown if USUAL.get(name) != value]
    return [*unusual, *(f"lacks {name}" for name in USUAL if name not in dict(headers))]


def _picture(body: bytes) -> str:
    """Return size and colours of a picture, which libraries compress differently."""
    picture = Image.open(io.BytesIO(body)).convert("RGBA")
    return f"{picture.width} x {picture.height} pixels, {hashlib.sha256(picture.tobytes()).hexdigest()}"


def _static(port: int, path: str) -> str:
    status, headers, body = ask(port, PageRequest(path, {}))
    kind = dict(headers)["content-type"]
    return f"{status} {kind} {len(body)} bytes {hashlib.sha256(body).hexdigest()[:16]}"


@contextmanager
def _served(catalogue: Catalogue) -> Iterator[int]:
    """Serve a catalogue by `geocrawl serve`; yield the port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    settings = {"PROXY": catalogue.web.proxy_url, "DELAY": "0", "CONTACT": CONTACT}
    environment = clean_environment(catalogue.folder, **{f"GEOCRAWL_{name}": each for name, each in settings.items()})
    command = geocrawl("serve", "--db", catalogue.url, "--port", str(port), "--rate", "0")
    server = Started(command, env=environment)
    try:
        while not _answers(port):
            assert server.running(), f"geocrawl serve ended: {server.wait().stderr}"
            time.sleep(0.05)
        yield port
        server.terminate()
    finally:
        ended = server.wait(limit_s=60)
    assert "Traceback" not in ended.stderr


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
