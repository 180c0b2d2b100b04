"""OWSLib's readers of whole capabilities beside ours, on the recorded documents.

geocrawl gives OWSLib the sections about a service and its operations, and reads content items itself in one pass. What
OWSLib would make of whole documents, mended by our parser: those it reads, what it raised on each other one, fields
that are equal, seconds of CPU, and the MiB by which a process grew. CSW is left out, because OWSLib takes no bytes.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import resource
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from lxml import etree

from geocrawl.formats.xml import read_xml
from geocrawl.model import Kind, Layer, Service
from geocrawl.probe.kinds import sos, wcs, wfs, wps
from geocrawl.probe.kinds.wms import probe as wms
from geocrawl.probe.kinds.wmts import probe as wmts
from geocrawl.probe.ows.capabilities import examine
from geocrawl.probe.registry import declaration
from tests.support.answers import page
from tests.support.places import shared_folder

FORMS = {module.FORM.kind: module.FORM for module in (wms, wfs, wmts, wcs, wps, sos)}
_WHERE = "http://127.0.0.1/"
_WITHIN = 1e-5
"""Degrees by which boxes may differ."""

_Document = tuple[Kind, Path]
_Read = Callable[[Kind, bytes], Any]


def add_options(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Read all documents of six kinds by both readers; missed is what ours does not read."""
    logging.getLogger("owslib").addHandler(logging.NullHandler())
    folder = shared_folder() / "corpus" / "documents"
    documents = [(kind, file) for kind in FORMS for file in sorted((folder / kind.value).iterdir())]
    ours, theirs = (_in_process(read, documents) for read in (by_geocrawl, by_owslib))
    return {
        "documents": dict(Counter(kind.value for kind, _ in documents)),
        "geocrawl": ours,
        "owslib": theirs,
        "fields_equal": _compared(documents),
        "missed": list(ours["raised"]),
    }


def by_geocrawl(kind: Kind, body: bytes) -> Service:
    """Return the service with its items; LookupError for a document that is not read."""
    found = examine(page(body), FORMS[kind])
    if found.service is None:
        raise LookupError(found.reason)
    return found.service


def by_owslib(kind: Kind, body: bytes) -> Any:
    """Return OWSLib's object of a document. Raises what OWSLib raises."""
    root = read_xml(body, "").root
    assert root is not None, "every recorded document is XML"
    body, version = etree.tostring(root), root.get("version") or FORMS[kind].usual_version
    if kind is Kind.WMS:
        version = "1.3.0" if version.startswith("1.3") else "1.1.1"  # the versions that it has
    module, _, name = declaration(kind).client.partition(":")
    opened = getattr(import_module(module), name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind is Kind.WPS:
            service = opened(_WHERE, skip_caps=True)
            service.getcapabilities(xml=body)
        elif kind is Kind.WMTS:
            service = opened(_WHERE, xml=body)
        else:
            service = opened(_WHERE, version=version, xml=body)
    if service is None:
        raise LookupError(f"no reader for version {version}")
    return service


def _in_process(read: _Read, documents: Sequence[_Document]) -> dict[str, Any]:
    """Read all documents in a process of its own, which starts with what this one has loaded."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(_figures, (read, documents))


def _figures(read: _Read, documents: Sequence[_Document]) -> dict[str, Any]:
    raised: dict[str, str] = {}
    _attempt(read, *documents[0])  # loads the modules
    before, begun = _peak_mib(), time.process_time()
    for kind, file in documents:
        if isinstance(found := _attempt(read, kind, file), Exception):
            raised[f"{kind}/{file.name}"] = f"{type(found).__name__}: {found}"[:120]
    return {
        "read": len(documents) - len(raised),
        "cpu_s": round(time.process_time() - begun, 2),
        "grown_mib": round(_peak_mib() - before),
        "raised_on": dict(Counter(name.partition("/")[0] for name in raised)),
        "raised": raised,
    }


def _attempt(read: _Read, kind: Kind, file: Path) -> Any:
    try:
        return read(kind, file.read_bytes())
    except Exception as error:  # what it raises is the question here
        return error


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _compared(documents: Sequence[_Document]) -> dict[str, str]:
    """Return how many of OWSLib's fields are equal to ours, of those that it reads."""
    equal, all_ = Counter[str](), Counter[str]()
    for kind, file in documents:
        theirs = _attempt(by_owslib, kind, file)
        if isinstance(theirs, Exception):
            continue
        for name, same in _fields(_attempt(by_geocrawl, kind, file), theirs):
            all_[name] += 1
            equal[name] += same
    return {name: f"{equal[name]} of {count}" for name, count in all_.items()}


def _fields(ours: Service, theirs: Any) -> Iterator[tuple[str, bool]]:
    """Yield each field with whether both readers read the same."""
    if title := _line(getattr(getattr(theirs, "identification", None), "title", "")):
        yield "title of the service", title == ours.title
    named = {layer.name: layer for layer in ours.layers if layer.name}
    is_wps = ours.kind is Kind.WPS
    items = {each.identifier: each for each in theirs.processes} if is_wps else theirs.contents
    yield "names of the items", set(items) == set(named)
    for name in set(items) & set(named):
        if title := _line(getattr(items[name], "title", "")):
            yield "titles of items", title == named[name].title
        box = getattr(items[name], "boundingBoxWGS84", None)
        if box is not None and (own := _box(ours, named[name])) is not None:
            yield "boxes of items", all(abs(float(a) - b) < _WITHIN for a, b in zip(box, own, strict=True))


def _box(service: Service, layer: Layer) -> tuple[float, ...] | None:
    """Return the layer's own box, or that of the nearest group with one."""
    while layer.box is None and layer.parent is not None:
        layer = service.layers[layer.parent]
    return None if layer.box is None else layer.box.bounds


def _line(text: str | None) -> str:
    return " ".join((text or "").split())[:1_000]
