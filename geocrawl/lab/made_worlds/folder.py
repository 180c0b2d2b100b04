"""Write a made web as a folder: the pages one after another as a WARC file (ISO 28500), services, documents, truth."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from http.client import responses
from pathlib import Path
from typing import Any, BinaryIO

from geocrawl.errors import UsageError
from geocrawl.files import make_folder, write_faults
from geocrawl.lab.made_worlds.design import render
from geocrawl.lab.made_worlds.documents import document, suffix
from geocrawl.lab.made_worlds.leisure import fill, leisure_site
from geocrawl.lab.made_worlds.mixture import Mixture, draw
from geocrawl.lab.made_worlds.parts import Anchor, Listing, OtherAnswer, Page, Service, Site, Web
from geocrawl.lab.made_worlds.planner import Planner
from geocrawl.lab.made_worlds.plans.registry import KINDS
from geocrawl.lab.made_worlds.traps import troubles
from geocrawl.lab.made_worlds.truth import Walk, forbidden, host_of

LEAST_PAGES = 200
_DATE = "2025-01-01T00:00:00Z"
_WORKING = frozenset({"valid", "lenient"})


def make(
    kind: str, pages: int, seed: int, out: Path, vocabularies: tuple[str, ...] = (), *, troubled: bool = False
) -> dict[str, Any]:
    """Make a web of about `pages` pages and write it into the folder `out`; return the content of its world.json.

    `troubled`: add to the same web pages that answer 503 and 429 with Retry-After, and links to a dead host.

    Raises UsageError for an unknown kind or vocabulary, too few pages, or a folder that is not empty; EnvironmentFault
    when it cannot be written.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no kind of web {kind!r}: use one of {', '.join(KINDS)}")
    if pages < LEAST_PAGES:
        raise UsageError(f"a web of {pages} pages is too small: at least {LEAST_PAGES}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not an empty folder: name another one with --out")
    mixture = draw(seed, kind, vocabularies)
    web = plan(kind, pages, seed, mixture)
    if troubled:
        troubles(web)
    with write_faults(out):
        make_folder(out / "documents")
        return _write(web, kind, pages, seed, mixture, vocabularies, out, troubled=troubled)


def plan(kind: str, pages: int, seed: int, mixture: Mixture) -> Web:
    """Return a planned web, not written yet."""
    planner = Planner(seed, kind, mixture)
    KINDS[kind](planner, pages)
    missing = pages - planner.web.pages
    if missing > 12:
        fill(planner, _outskirts(planner, missing), pages - planner.web.pages)
    for host in _hosts(planner.web):
        _robots(planner.web, host)
    return planner.web


def _outskirts(planner: Planner, missing: int) -> Site:
    """Return the site to which the missing pages are added."""
    if isinstance(planner.outskirts, Site):
        return planner.outskirts
    door = planner.outskirts or planner.web.answers[planner.web.seeds[0]]
    assert isinstance(door, Page), "seeds are pages"
    site = leisure_site(planner, planner.rng.choice(planner.mixture.leisure), min(missing * 3 // 4, 60))
    door.blocks.append(Listing("", (Anchor(site.home, site.name),)))
    return site


def _hosts(web: Web) -> list[str]:
    return list(dict.fromkeys([*map(host_of, web.answers), *(host_of(service.base) for service in web.services)]))


def _robots(web: Web, host: str) -> None:
    rules, maps = web.disallowed.get(host, []), web.sitemaps.get(host, [])
    if not rules and not maps:
        return
    lines = ["User-agent: *", *(f"Disallow: {rule}" for rule in rules or [""])]
    lines += [f"Sitemap: {address}" for address in maps]
    web.add(OtherAnswer(f"http://{host}/robots.txt", "text/plain", "\n".join(lines) + "\n"))


def _write(
    web: Web,
    kind: str,
    pages: int,
    seed: int,
    mixture: Mixture,
    vocabularies: tuple[str, ...],
    out: Path,
    *,
    troubled: bool,
) -> dict[str, Any]:
    walk = Walk(web)
    with (out / "pages.warc.gz").open("wb") as file:
        for address, answer in web.answers.items():
            targets = _record(file, answer, seed)
            if isinstance(answer, Page):
                walk.add(address, targets)
            else:
                walk.add(address, targets, moves=bool(answer.location), is_map=answer.is_map)
    depths = _service_depths(web, walk)
    exposures = _exposures(web)
    with (out / "services.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for service in web.services:
            name = _write_document(service, seed, out / "documents")
            file.write(json.dumps(_row(service, name, exposures[service.id]), ensure_ascii=False) + "\n")
    (out / "truth.csv").write_text(_truth(web, depths, exposures), "utf-8", newline="\n")
    options = "".join(f" --vocabulary {name}" for name in vocabularies) + (" --troubled" if troubled else "")
    meta = {
        "name": f"made-{kind}-{seed}" + ("-troubled" if troubled else ""),
        "description": f"A made web ({kind}) about {', '.join(theme.about for theme in mixture.vocabularies)}.",
        "seeds": web.seeds,
        "counts": _counts(web, depths, exposures),
        "generator": {
            "script": f"geocrawl world make {kind} --pages {pages} --seed {seed}{options}",
            "random_seed": seed,
        },
    }
    (out / "world.json").write_text(json.dumps(meta, ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n")
    return meta


# --------------------------------------------------------------------------- records


def _record(file: BinaryIO, answer: Page | OtherAnswer, seed: int) -> tuple[str, ...]:
    """Write one answer as a WARC record and return the addresses to which the answer leads."""
    if isinstance(answer, Page):
        content_type, body, targets = render(answer, seed)
        headers = [("Content-Type", content_type)]
    else:
        body, targets = answer.body.encode(), answer.targets
        body = gzip.compress(body, mtime=0) if answer.packed else body
        headers = [("Content-Type", answer.content_type)]
        if answer.location:
            headers.append(("Location", answer.location))
        if answer.retry_after:
            headers.append(("Retry-After", answer.retry_after))
    head = f"HTTP/1.1 {answer.status} {responses[answer.status]}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in [*headers, ("Content-Length", str(len(body)))])
    block = head.encode() + b"\r\n" + body
    number = hashlib.sha1(answer.address.encode(), usedforsecurity=False).hexdigest()
    fields = (
        "WARC/1.1\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:{number[:8]}-{number[8:12]}-{number[12:16]}-{number[16:20]}-{number[20:32]}>\r\n"
        f"WARC-Date: {_DATE}\r\nWARC-Target-URI: {answer.address}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    file.write(_packed(fields.encode() + block + b"\r\n\r\n"))
    return targets


def _packed(data: bytes) -> bytes:
    """Return one gzip member without a time, so that the same record always has the same bytes."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


# --------------------------------------------------------------------------- services


def _exposures(web: Web) -> Mapping[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {service.id: [] for service in web.services}
    for address, named in web.named.items():
        for service, way in named:
            found[service.id].append((address, way))
    return found


def _service_depths(web: Web, walk: Walk) -> Mapping[str, int]:
    """Return service → least number of links from a seed: one more than for the nearest answer naming the service."""
    depths: dict[str, int] = {}
    for known in walk.depths():
        this: dict[str, int] = {}
        for address, named in web.named.items():
            for service, _ in named:
                if address in known and not forbidden(web, service.base):
                    this[service.id] = min(this.get(service.id, known[address] + 1), known[address] + 1)
        depths = {**this, **depths}
    return depths


def _write_document(service: Service, seed: int, folder: Path) -> str | None:
    if service.behaviour in ("notfound", "auth", "html200", "exception"):
        return None
    data = document(service, seed).encode()
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest() + suffix(service) + ".gz"
    (folder / name).write_bytes(gzip.compress(data, mtime=0))
    return name


def _row(service: Service, name: str | None, exposures: list[tuple[str, str]]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": service.id, "kind": service.kind, "base": service.base}
    row |= {"aliases": list(service.aliases)} if service.aliases else {}
    row |= {"behaviour": service.behaviour, "document": name, "requires": dict(service.requires)}
    row |= {"variant": service.variant} if service.variant else {}
    return row | {"exposures": [{"page": page, "how": way} for page, way in exposures]}


def _truth(web: Web, depths: Mapping[str, int], exposures: Mapping[str, list[tuple[str, str]]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "kind", "base", "valid", "exposure_kinds", "min_depth"])
    for service in web.services:
        ways = ";".join(sorted({way for _, way in exposures[service.id]}))
        valid = int(service.behaviour in _WORKING)
        writer.writerow([service.id, service.kind, service.base, valid, ways, depths.get(service.id, "")])
    return text.getvalue()


def _counts(web: Web, depths: Mapping[str, int], exposures: Mapping[str, list[tuple[str, str]]]) -> dict[str, Any]:
    wms = [service for service in web.services if service.kind == "wms"]
    valid = [service for service in wms if service.behaviour in _WORKING]

    def tally(values: Iterator[Any]) -> dict[str, int]:
        return {str(key): count for key, count in sorted(Counter(values).items())}

    return {
        "records": len(web.answers),
        "pages": web.pages,
        "hosts": len({host_of(address) for address in web.answers}),
        "services": tally(service.kind for service in web.services),
        "wms_behaviours": tally(service.behaviour for service in wms),
        "wms_valid": len(valid),
        "wms_valid_reachable": sum(service.id in depths for service in valid),
        "wms_exposures": tally(way for service in wms for _, way in exposures[service.id]),
        "wms_min_depth": tally(depths[service.id] for service in valid if service.id in depths),
    }
