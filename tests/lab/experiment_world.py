"""A recorded web of 24 small sites whose pages, links and services can be counted by hand.

Twelve sites are on the topic (s0 … s11), twelve are not (o0 … o11), and a hub links to the home pages of all. A site
has a home page and three more, a, b and c; each page links to the other three. The pages a and b of a site on the topic
name its ArcGIS service, c names its WMS. So each of its pages names a service or links to such a page, of both kinds. A
page on the topic also links to the home page of the site with the same number that is not, and a page off the topic
back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.lab.small_world import HTML, Answer, write_files

SITES = 12
HUB = "www.hub.example/"
ON = [f"www.s{site}.example/{page}" for site in range(SITES) for page in ("", "a.html", "b.html", "c.html")]
OFF = [f"www.o{site}.example/{page}" for site in range(SITES) for page in ("", "a.html", "b.html", "c.html")]
PAGES = 1 + len(ON) + len(OFF)
"""97 pages: a third of them are 32."""
_MAPS = (
    "Web Map Service (WMS) of the OGC: layers, GetCapabilities and GetMap of our geospatial data, spatial data, WFS."
)
_SOUP = "A recipe for soup: cook the carrots with onions, add salt, serve with bread. Football news and garden flowers."


def write_experiment_world(folder: Path) -> Path:
    """Write the web into `folder` and return it."""
    services = [each for site in range(SITES) for each in _services(site)]
    truth = [[each["id"], each["kind"], each["base"], 1, "href", 3] for each in services]
    return write_files(folder, f"http://{HUB}", list(_answers()), services, truth)


def _answers() -> Iterator[Answer]:
    homes = [(key, "WMS layers" if key in ON else "Soup recipe") for key in (*ON, *OFF) if key.endswith("/")]
    yield _page(HUB, "Links", "Links to sites.", homes)
    for pages, text, anchor, other in ((ON, _MAPS, "WMS layers", "o"), (OFF, _SOUP, "Soup recipe", "s")):
        for number, page in enumerate(pages):
            site, own = number // 4, page.partition("/")[0]
            near = [(key, f"{anchor} {key[-6:-5]}") for key in pages[site * 4 : site * 4 + 4] if key != page]
            across = (f"www.{other}{site}.example/", "Soup recipe" if other == "o" else "WMS layers")
            named = [(address, "Service") for address in (_named(site, page) if other == "o" else ())]
            apart = (page, "Top of this page")  # else the link across would have an anchor of the own topic beside it
            yield _page(page, f"{anchor} of {own}", text, [*named, *near, apart, across])


def _page(key: str, title: str, text: str, links: list[tuple[str, str]]) -> Answer:
    items = "".join(f'<p>{text}</p><a href="http://{target}">{anchor}</a>' for target, anchor in links)
    return f"http://{key}", "200 OK", HTML, f"<title>{title}</title><body>{items}</body>"


def _named(site: int, page: str) -> list[str]:
    """Return the addresses of the services that a page on the topic names."""
    if page.endswith("c.html"):
        return [f"{_bases(site)['wms']}?service=WMS&amp;request=GetCapabilities".removeprefix("http://")]
    return [] if page.endswith("/") else [_bases(site)["arcgis"].removeprefix("http://")]


def _bases(site: int) -> dict[str, str]:
    return {
        "wms": f"http://maps.s{site}.example/wms",
        "arcgis": f"http://gis.s{site}.example/arcgis/rest/services/x/MapServer",
    }


def _services(site: int) -> Iterator[dict[str, Any]]:
    for kind, base in _bases(site).items():
        pages = ("c.html",) if kind == "wms" else ("a.html", "b.html")
        yield {
            "id": f"{kind}-{site}",
            "kind": kind,
            "base": base,
            "behaviour": "valid",
            "document": "d.xml.gz",
            "requires": {},
            "exposures": [{"page": f"http://www.s{site}.example/{page}", "how": "href"} for page in pages],
        }
