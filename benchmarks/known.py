"""What services say of what people filter by, on the recorded documents: times, licence, language.

Fields come from content checks, not from these documents. `--show N` prints N services of each kind to be looked at.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.readers import FORMS, by_geocrawl
from geocrawl.model import Kind, Service, Status
from geocrawl.probe.registry import probe_of
from geocrawl.store.catalogue.write.services import service_row
from tests.probe.json_answers import judge
from tests.support.places import shared_folder

_BY_PATH = {
    Kind.ARCGIS: "http://a.example/arcgis/rest/services/A/B/MapServer",
    Kind.OGCAPI: "http://a.example/",
    Kind.STAC: "http://a.example/catalog.json",
    Kind.TMS: "http://a.example/tms/1.0.0/map/",
}
"""Kind that is asked by paths → address at which its documents are answered."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how many services are printed."""
    parser.add_argument("--show", type=int, default=0, metavar="N", help="services of each kind to print [0]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the number of services and how many of them have times, a code of a licence and a language."""
    known: dict[str, Counter[str]] = {"services": Counter()}
    languages, licences = Counter[str](), Counter[str]()
    for kind, service in _services():
        row = service_row(service, "a.example", 0.0)
        has = {
            "times": row["time_start"] is not None or row["time_end"] is not None,
            "terms": bool(row["fees"] or row["access_constraints"]),
            "licence": bool(row["licence"]),
            "language": bool(row["language"]),
        }
        known["services"][kind] += 1
        for name in (each for each, is_known in has.items() if is_known):
            known.setdefault(name, Counter())[kind] += 1
        languages[str(row["language"])] += 1
        licences[str(row["licence"])] += 1
        if known["services"][kind] <= options.show:
            said = " | ".join(str(row[name])[:90] for name in ("title", "abstract", "access_constraints", "fees"))
            print(f"{kind} [{row['language']}] [{row['licence']}] {said}".replace("\n", " "))
    return {
        **{name: {"all": sum(counts.values()), **counts} for name, counts in known.items()},
        **{"languages": dict(languages.most_common()), "licences": dict(licences.most_common())},
    }


def _services() -> Iterator[tuple[Kind, Service]]:
    """Yield the services that the documents describe, with their kinds."""
    folder = shared_folder() / "corpus" / "documents"
    for kind in (*FORMS, *_BY_PATH):
        for file in sorted((folder / kind.value).iterdir()):
            if kind in FORMS:
                try:
                    yield kind, by_geocrawl(kind, file.read_bytes())
                except LookupError:
                    continue
            else:
                verdict = judge(probe_of(kind), file, _BY_PATH[kind])
                if verdict.status is Status.VALID and verdict.service is not None:
                    yield kind, verdict.service
