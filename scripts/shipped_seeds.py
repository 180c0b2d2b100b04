"""Write seeds/portals.csv.gz and seeds/endpoints.csv.gz: `python -m scripts.shipped_seeds REGISTRY`.

REGISTRY is a checkout of dataportals-registry (Dateno, CC-BY 4.0), whose entries of geoportals are read, or a
folder with `portals.csv.gz` (link, software, country, languages, status, name) and `endpoints.csv.gz` (link, type,
url). Rows are ordered so that any beginning of a table is spread over hosts and countries.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from geocrawl.model import Kind
from geocrawl.urls import read_url, service_endpoint

SEEDS = Path(__file__).resolve().parents[1] / "seeds"
PORTALS = ("url", "title", "region", "country", "language", "software")
ENDPOINTS = ("url", "kind", "country", "software")
Row = Mapping[str, str]

_REGIONS = {
    "Africa": "Africa AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR "
    "MU MW MZ NA NE NG RE RW SC SD SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW",
    "Americas": "Caribbean LatinAmerica AG AI AR AW BB BM BO BR BS BZ CA CL CO CR CU CW DM DO EC FK GD GF GL GP GT GY "
    "HN HT JM KN KY LC MQ MX NI PA PE PM PR PY SR SV TC TT US UY VC VE VG VI",
    "Asia": "Asia AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV "
    "MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE",
    "Europe": "EU Europe AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT "
    "LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SK SM UA VA XK",
    "Oceania": "Oceania AS AU CK FJ FM GU KI MH MP NC NR NU NZ PF PG PW SB TO TV VU WF WS",
}
_REGION_OF = {country: region for region, countries in _REGIONS.items() for country in countries.split()}
"""The registry's country or part of the world → continent (UN M49); all others are of the world."""

_KINDS = {"wms-c": Kind.WMSC, "arcgis:rest:services": Kind.ARCGIS, "ogcrecordsapi": Kind.OGCAPI}
_KINDS |= {"stacserverapi": Kind.STAC, "stac": Kind.STAC, "ogcapi": Kind.OGCAPI}
_VERSION = re.compile(r"[0-9]+\Z")


def kind_of(type_: str) -> Kind | None:
    """Return the kind of service that the registry calls `wms130`, `arcgis:rest:services` …; None for any other."""
    name = _VERSION.sub("", type_)
    try:
        return _KINDS.get(name) or Kind(name)
    except ValueError:
        return None


def read_registry(folder: Path) -> tuple[list[Row], list[Row]]:
    """Return portals and endpoints under the names of columns of the two tables of the registry."""
    if (folder / "portals.csv.gz").exists():
        return _read_table(folder / "portals.csv.gz"), _read_table(folder / "endpoints.csv.gz")
    portals: list[Row] = []
    endpoints: list[Row] = []
    for path in sorted((folder / "data" / "entities").rglob("*.yaml")):
        entry = yaml.safe_load(path.read_text("utf-8"))
        if entry.get("catalog_type") != "Geoportal":
            continue
        country = ((entry.get("coverage") or [{}])[0].get("location") or {}).get("country") or {}
        portals.append(
            {"link": entry["link"], "name": entry.get("name", ""), "status": entry.get("status", "")}
            | {"software": (entry.get("software") or {}).get("id", ""), "country": country.get("id", "")}
            | {"languages": " ".join(each for each in entry.get("langs") or () if isinstance(each, str))}
        )
        endpoints += ({"link": entry["link"], **each} for each in entry.get("endpoints") or () if each.get("url"))
    return portals, endpoints


def _read_table(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def portal_rows(portals: Iterable[Row]) -> Iterator[Row]:
    """Yield a row for each portal that is not given up, each address once."""
    seen = set()
    for each in portals:
        url = read_url(each["link"])
        if url is None or each["status"] in ("inactive", "deprecated") or url.identity in seen:
            continue
        seen.add(url.identity)
        title = " ".join(each["name"].split())
        yield {
            "url": url.address,
            "title": "" if title.startswith("No result") else title,
            "region": _REGION_OF.get(each["country"], "World"),
            "country": each["country"],
            "language": each["languages"].lower(),
            "software": each["software"],
        }


def endpoint_rows(endpoints: Iterable[Row], portals: Iterable[Row]) -> Iterator[Row]:
    """Yield a row for each endpoint of a kind that geocrawl probes, whatever versions the registry has of it."""
    portal_of, seen = {each["link"]: each for each in portals}, set()
    for each in endpoints:
        kind, url, portal = kind_of(each["type"]), read_url(each["url"]), portal_of.get(each["link"])
        if kind is None or url is None or portal is None or portal["status"] in ("inactive", "deprecated"):
            continue
        endpoint = service_endpoint(kind, url)
        if (kind, endpoint.key) not in seen:
            seen.add((kind, endpoint.key))
            yield {"url": url.address, "kind": kind, "country": portal["country"], "software": portal["software"]}


def spread(rows: Iterable[Row]) -> list[Row]:
    """Return the rows so that those of one host, and among these those of one country, stand far from each other."""
    of_host, of_country = defaultdict[Hashable, int](int), defaultdict[Hashable, int](int)
    ranked = []
    for row in sorted(rows, key=lambda each: each["url"]):
        url = read_url(row["url"])
        assert url is not None, "rows have addresses that were read"
        turn = of_host[url.host]
        ranked.append((turn, of_country[row["country"], turn], row["country"], row["url"], row))
        of_host[url.host] += 1
        of_country[row["country"], turn] += 1
    return [row for *_, row in sorted(ranked, key=lambda each: each[:4])]


def write(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write a table as compressed CSV, the same bytes for the same rows."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode("utf-8"), 9, mtime=0))
    sys.stderr.write(f"{path}: {len(rows):,} rows, {path.stat().st_size:,} bytes\n")


def main() -> None:
    """Write both tables."""
    portals, endpoints = read_registry(Path(sys.argv[1]))
    write(SEEDS / "portals.csv.gz", PORTALS, spread(portal_rows(portals)))
    write(SEEDS / "endpoints.csv.gz", ENDPOINTS, spread(endpoint_rows(endpoints, portals)))


if __name__ == "__main__":
    main()
