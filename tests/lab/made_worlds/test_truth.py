"""The truth of made webs against a walk that shares nothing with the one that wrote it."""

from __future__ import annotations

import csv
import gzip
import re
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urljoin
from urllib.robotparser import RobotFileParser

from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.warc import StoredAnswer
from geocrawl.lab.recorded_worlds.world import World

_XML_ADDRESS = re.compile(rb">\s*(http://[^<\s]+)\s*<")
_JSON_ADDRESS = re.compile(rb'["|](http://[^"|\s]+)["|]')
_FAR = 10**6
LINKED = {"href-getcapabilities", "href-getmap", "href-bare", "sitemap", "csw-record", "robots-disallowed"}


def _following(key: str) -> Iterator[str]:
    """The next page of a catalogue's answers, which their interfaces do not name: a client counts."""
    if "/package_search?" in key:
        head, _, start = key.rpartition("=")
        yield f"http://{head}={int(start) + 50}"
    if found := re.search(r"/q\?.*&from=(\d+)&to=(\d+)", key):
        yield f"http://{key[: found.start(1)]}{int(found[1]) + 25}&to={int(found[2]) + 25}"


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.base = ""
        self._action = ""
        self._fields: dict[str, str] = {}
        self._select = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._action:
            self.found.append(f"{self._action}?{urlencode(self._fields)}")

    def _field(self, tag: str, values: dict[str, str | None]) -> None:
        """What a form sends when a person just presses its button."""
        if tag == "form":
            self._action, self._fields = values.get("action") or "", {}
        if tag == "select":
            self._select = values.get("name") or ""
        if tag == "option":
            self._fields.setdefault(self._select, values.get("value") or "")
        if tag == "input" and values.get("name") and values.get("value"):
            self._fields[values["name"] or ""] = values["value"] or ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._field(tag, values)
        if tag == "base":
            self.base = values.get("href") or ""
        if tag == "meta" and (values.get("http-equiv") or "").lower() == "refresh":
            self.found.append((values.get("content") or "").partition("url=")[2])
        name = {"a": "href", "frame": "src", "script": "src"}.get(tag, "")
        if value := values.get(name):
            self.found.append(value)


class _Walk:
    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self._robots: dict[str, RobotFileParser] = {}

    def allowed(self, key: str) -> bool:
        host = key.partition("/")[0]
        if host not in self._robots:
            self._robots[host] = parser = RobotFileParser()
            stored = self.world.stored(f"{host}/robots.txt")
            parser.parse(stored.body.decode().splitlines() if stored else [])
        return self._robots[host].can_fetch("somebody", f"http://{key}")

    def links(self, key: str, stored: StoredAnswer) -> Iterator[str]:
        for name, value in stored.headers:
            if name.lower() == "location":
                yield value
        body = gzip.decompress(stored.body) if stored.body[:2] == b"\x1f\x8b" else stored.body
        if body.lstrip()[:5] == b"<?xml":
            yield from (found.decode() for found in _XML_ADDRESS.findall(body))
            return
        if body[:1] == b"{":
            yield from (found.decode() for found in _JSON_ADDRESS.findall(body))
            yield from _following(key)
            return
        parser = _Links()
        parser.feed(body.decode("latin-1"))  # addresses are ASCII, whatever the charset
        yield from (urljoin(parser.base or f"http://{key}", href) for href in parser.found)

    def depths(self, starts: dict[str, int], *, through_maps: bool) -> dict[str, int]:
        depths: dict[str, int] = {}
        waiting = deque(sorted(starts.items(), key=lambda entry: entry[1]))
        while waiting:
            key, depth = waiting.popleft()
            stored = self.world.stored(key)
            if stored is None or depths.get(key, _FAR) <= depth or not self.allowed(key):
                continue
            depths[key] = depth
            if stored.kind == "sitemap" and not through_maps:
                continue
            step = 0 if 300 <= stored.status < 400 else 1
            for link in self.links(key, stored):
                (waiting.append if step else waiting.appendleft)((key_of(link), depth + step))
        return depths

    def all_depths(self) -> tuple[dict[str, int], dict[str, int]]:
        plain = self.depths({key_of(seed): 0 for seed in self.world.seeds}, through_maps=False)
        starts = dict(plain)
        for key, record in self.world.warc.records.items():
            host = key.partition("/")[0]
            robots = self.world.stored(f"{host}/robots.txt")
            if record.kind == "sitemap" and robots and f"Sitemap: http://{key}".encode() in robots.body:
                least = min((d for k, d in plain.items() if k.partition("/")[0] == host), default=_FAR)
                starts[key] = min(plain.get(key, _FAR), least + 1)
        starts = {key: depth for key, depth in starts.items() if depth < _FAR}
        return plain, self.depths(starts, through_maps=True)


def test_the_least_depth_of_every_service_is_that_of_an_independent_walk(folder: Path) -> None:
    walk = _Walk(folder)
    plain, with_maps = walk.all_depths()
    expected = {}
    for service in walk.world.services:
        depth = ""
        for known in (with_maps, plain):
            named = [known[key] + 1 for key in (key_of(page) for page, _ in service.exposures) if key in known]
            if named and walk.allowed(key_of(service.base)):
                depth = str(min(named))
        expected[service.id] = depth
    with (folder / "truth.csv").open(encoding="utf-8", newline="") as file:
        assert {row["id"]: row["min_depth"] for row in csv.DictReader(file)} == expected


def test_every_way_that_links_names_the_service_at_its_page(folder: Path) -> None:
    walk = _Walk(folder)
    for service in walk.world.services:
        bases = {key_of(base).partition("?")[0] for base in (service.base, *service.aliases)}
        for page, way in service.exposures:
            stored = walk.world.stored(key_of(page))
            assert stored is not None
            if way in LINKED:
                places = {key_of(link).partition("?")[0] for link in walk.links(key_of(page), stored)}
                assert bases & places, (page, way)


def test_nearly_all_pages_can_be_reached(folder: Path) -> None:
    walk = _Walk(folder)
    plain, _ = walk.all_depths()
    pages = [key for key, record in walk.world.warc.records.items() if record.kind == "page"]
    assert sum(key in plain for key in pages) > 0.95 * len(pages)
