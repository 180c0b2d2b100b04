"""Make catalogues to search: recorded services and made ones with a known theme and place; large ones of any size."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shapely.geometry import box

from geocrawl.model import Candidate, Endpoint, Evidence, Kind, Layer, Service
from geocrawl.probe.registry import probes
from geocrawl.query.places import Place, shipped_places
from geocrawl.urls import endpoint_key, read_url
from tests.support.interviews import interview
from tests.support.places import ROOT
from tests.support.world import World, verdict

PLACES = (
    *(
        "DE.02",
        "IT.16",
        "KE",
        "NO",
        "GB.SCT",
        "NL",
        "US.TX",
        "US.CA",
        "AU.06",
        "PT",
        "FR.53",
        "ES.51",
        "SE",
        "NZ",
        "CL",
    ),
    *("CA.10", "AT.07", "AT.04", "CH.GR", "IN.13", "CN.32", "CN.30", "JP.12"),
)
LANGUAGES = {"DE": "de", "AT": "de", "CH": "de", "CN": "zh", "JP": "ja"}
LOCAL = {
    **{"DE.02": "Bayern", "AT.07": "Tirol", "AT.04": "Oberösterreich", "CH.GR": "Graubünden", "CN.32": "四川省"},
    **{"CN.30": "广东省", "JP.12": "北海道"},
}
WRITTEN = Path(__file__).with_name("search_services.txt")
KINDS = {"wfs": 4, "wmts": 3, "arcgis": 3, "ogcapi": 2, "wcs": 2}
"""Kinds beside WMS, with their weights."""
_PATHS = {
    **{"wms": "/geoserver/{name}/wms", "wfs": "/geoserver/{name}/wfs", "wmts": "/{name}/wmts", "wcs": "/{name}/wcs"},
    **{"arcgis": "/arcgis/rest/services/{name}/MapServer", "ogcapi": "/{name}/oapi/"},
}
_OFFICES = {
    "en": ("Survey of {p}", "{p} Environment Agency", "Brookfield Survey", "Department of Planning {p}"),
    "de": ("Landesamt für Umwelt {p}", "Landesvermessung {p}", "Amt für Raumplanung {p}"),
    "zh": ("{p}自然资源厅", "{p}生态环境厅", "{p}测绘院"),
    "ja": ("{p}環境局", "{p}地図センター"),
}
_ORDER = {("water", "en"): (0, 1, 2, 3, 5, 6, 4, 7, 8, 9)}
"""Where titles of two languages stand in different orders."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a service of a catalogue is about."""

    kind: str
    theme: str = ""
    place: str = ""
    text: str = ""
    """Title, provider and layers of a recorded service."""
    name: str = ""
    """Key of a service of `search_services.txt`."""


def fill(path: Path, shared: Path | None) -> dict[int, Truth]:
    """Make a catalogue of made services, and of the recorded ones of `shared`; return the truth of each service."""
    world, truths, rng = World(path), dict[int, Truth](), random.Random(7)
    records = [*_made(rng), *(_recorded(shared) if shared else ())]
    for number, (service, address, truth) in enumerate(records):
        endpoint_id = _record(world, service, address, float(number))
        row = world.database.connection.execute(
            "SELECT service_id FROM endpoint WHERE id = ?", (endpoint_id,)
        ).fetchone()
        truths[row[0]] = truth
        _prove(world, rng, endpoint_id)
    world.store.close()
    return truths


def add_written(path: Path) -> dict[int, Truth]:
    """Add the services of `search_services.txt` to a catalogue; return the truth of each."""
    world, truths, rng = World(path), dict[int, Truth](), random.Random(8)
    for number, line in enumerate(WRITTEN.read_text("utf-8").splitlines()):
        if not line.startswith("#"):
            service, address, truth = _written(line)
            endpoint_id = _record(world, service, address, 10_000.0 + number)
            query = "SELECT service_id FROM endpoint WHERE id = ?"
            truths[world.database.connection.execute(query, (endpoint_id,)).fetchone()[0]] = truth
            _prove(world, rng, endpoint_id)
    world.store.close()
    return truths


def _written(line: str) -> tuple[Service, str, Truth]:
    """Return the service of a line of `search_services.txt`, its address and its truth."""
    name, kind, where, host, title, provider, layers, abstract = (part.strip() for part in line.split("|"))
    sides = tuple(map(float, where.split(","))) if "," in where else shipped_places().by_code[where].boxes[0]
    extent = box(*sides)
    path = {"arcgis": f"/arcgis/rest/services/{name}/MapServer", "ogcapi": f"/{name}/oapi/"}.get(
        kind, f"/{name}/{kind}"
    )
    described = Service(
        Kind(kind),
        "1.0",
        title,
        abstract=abstract,
        provider=provider,
        layers=tuple(Layer(each.strip(), each.strip(), crs=("EPSG:3857",), box=extent) for each in layers.split(";")),
        fingerprint=name,
    )
    return described, f"https://{host}{path}", Truth(kind, name=name)


def _record(world: World, service: Service, address: str, at: float) -> int:
    url = read_url(address)
    assert url is not None
    candidate = Candidate(
        Endpoint(service.kind, endpoint_key(url), url), Evidence("query", "http://a.example/", address)
    )
    return world.record(candidate, verdict("ok", service), 1_000_000.0 + at)


def _prove(world: World, rng: random.Random, endpoint_id: int) -> None:
    level = rng.choices(("delivers", "answers", None), (6, 3, 1))[0]
    health = rng.choices(("alive", "degraded", "down"), (8, 1, 1))[0]
    world.database.connection.execute(
        "UPDATE endpoint SET level = ?, health = ?, status = ? WHERE id = ?",
        (level, health, "invalid" if health == "down" else "valid", endpoint_id),
    )


def _recorded(shared: Path) -> Iterator[tuple[Service, str, Truth]]:
    for probe in probes():
        folder = shared / "corpus" / "documents" / probe.kind
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            body = path.read_bytes()
            content_type = "application/json" if body.lstrip()[:1] in (b"{", b"[") else "text/xml"
            found = interview(probe, body, content_type).service
            if found is not None:
                address = f"http://{path.stem.lower().replace('_', '-')}.example/{probe.kind}?service={probe.kind}"
                texts = (found.title, found.provider, found.abstract, path.stem, *(each.title for each in found.layers))
                yield found, address, Truth(str(probe.kind), text="\n".join(texts))


def _made(rng: random.Random) -> Iterator[tuple[Service, str, Truth]]:
    themes = {
        path.stem: tomllib.loads(path.read_text("utf-8"))
        for path in sorted((ROOT / "geocrawl/data/worlds").glob("*.toml"))
    }
    every = shipped_places().by_code
    for name, theme in themes.items():
        if not theme.get("relevant"):
            continue
        for number in range(10):
            for code in PLACES:
                for kind in ("wms", *rng.choices(list(KINDS), list(KINDS.values()), k=rng.choice((0, 0, 1, 2)))):
                    yield _service(rng, kind, (name, theme, number), every[code])


def _service(
    rng: random.Random, kind: str, about: tuple[str, dict[str, dict[str, list[str]]], int], place: Place
) -> tuple[Service, str, Truth]:
    name, theme, number = about
    language = LANGUAGES.get(place.country, "en")
    words, order = theme[language], _ORDER.get((name, language), range(10))
    title, where = words["titles"][order[number]], LOCAL.get(place.code, place.title)
    spaced = language in ("en", "de")
    full = rng.choice((f"{title} {where}" if spaced else f"{where}{title}",) * 2 + (title,))
    slug = f"{name[:3]}{rng.randrange(10**6):06}"
    west, south, east, north = place.boxes[0]
    layers = tuple(
        Layer(f"{slug}_{n}", noun.capitalize(), crs=("EPSG:3857", "EPSG:4326"), box=box(west, south, east, north))
        for n, noun in enumerate([title, *rng.sample(words["nouns"], 3)])
    )
    provider = rng.choice(_OFFICES[language]).format(p=where)
    service = Service(
        Kind(kind), "1.0", full, provider=provider, layers=layers, fingerprint=slug, formats=("image/png",)
    )
    ending = {"GB": "uk"}.get(place.country, place.country.lower())
    host = f"maps{rng.randrange(50)}.{place.code.lower().replace('.', '-')}-geo.{ending}"
    address = f"http://{host}" + _PATHS[kind].format(name=slug)
    return service, address, Truth(kind, f"{name}/{number}", place.code)
