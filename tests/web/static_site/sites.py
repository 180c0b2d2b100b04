"""Publish catalogues for tests, and look for what is wrong with a site."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml import html

from geocrawl.model.search import Selection
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.static_site.folder import MANIFEST
from geocrawl.web.static_site.pages import SiteOptions
from geocrawl.web.static_site.publish import PublishReport, publish

BASE = "https://maps.example.org/catalogue"


def published(catalogue: Path | str, folder: Path, selection: Selection | None = None, **options: Any) -> PublishReport:
    """Publish a catalogue to a folder."""
    with Catalogue(catalogue) as door, door.snapshot():
        return publish(door, selection or Selection(), folder, SiteOptions(**options))


def files_of(site: Path) -> dict[str, bytes]:
    """Return the files of a site by their names, but for the manifest, in which are their times."""
    files = (path for path in sorted(site.rglob("*")) if path.is_file() and path.name != MANIFEST)
    return {str(path.relative_to(site)): path.read_bytes() for path in files}


def part(site: Path, name: str) -> Any:
    """Return the data in a script of the search's index."""
    found = re.fullmatch(r'geocrawlPart\("[^"]+",(.*)\)\n', (site / "search" / f"{name}.js").read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def index_of(site: Path) -> Any:
    """Return the part of the index to which the first page leads."""
    page: Any = html.fromstring((site / "index.html").read_bytes())
    return part(site, page.get_element_by_id("search").get("data-index"))


def faults_of(site: Path, *, is_amid: bool = False) -> list[str]:
    """Return what a visitor of a site would find missing: files behind links, parts and cards behind the search.

    `is_amid`: its publish did not end. The search passes over a service whose card was taken away with it then."""
    index = index_of(site)
    wanted = [f"search/words/{name}.js" for name in index["names"]]
    ranks = part(site, index["ranks"])
    for number in (number for number, rank in enumerate(ranks) if rank != "A"):
        wanted += [f"services/{number // 500}/{number}.html", f"services/{number // 500}/{number}.json"]
        if str(number) not in part(site, f"cards/{number // 1000}/{number // 10}") and not is_amid:
            wanted.append(f"a card of {number}")
    missing = [name for name in wanted if not (site / name).is_file()]
    for page in site.rglob("*.html"):
        read: Any = html.fromstring(page.read_bytes())
        for _, attribute, address, _ in read.iterlinks():
            if attribute != "action" and not re.match(r"https?:|#", address):
                target = page.parent / unquote(address.partition("?")[0].partition("#")[0])
                missing += [] if target.is_file() else [f"{page.relative_to(site)}: {address}"]
    return missing
