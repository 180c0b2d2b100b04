"""Recorded addresses and documents: what is recognised of each label, and what of those that are no services."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from geocrawl.detect import Detector
from geocrawl.detect.addresses import SignRules
from geocrawl.detect.detector import kind_of_document
from geocrawl.model import Kind, Page
from geocrawl.page.document import PageReader
from geocrawl.probe.registry import declarations
from geocrawl.urls import read_url

TYPES = {".json": "application/json", ".xml": "text/xml"}


@pytest.mark.shared
def test_nearly_all_labelled_addresses_are_recognised_and_hardly_any_others(shared: Path) -> None:
    """Rows that are called wms but ask an ArcGIS REST service for an image are left out; tiles (TILED) are a WMS-C."""
    detector, labelled, right, others = Detector(declarations()), Counter[str](), Counter[str](), Counter[bool]()
    with (shared / "corpus" / "urls.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            url = read_url(row["url"])
            if url is None or (row["label"] == "wms" and "/rest/services/" in row["url"]):
                continue
            found = detector.of_url(url)
            label = "wmsc" if row["note"] == "registry:wms-c111" else row["label"]
            labelled[label] += 1
            right[label] += found is not None and found.endpoint.kind == label
            if label == "other" and found is not None:
                others[found.weak] += 1
    del labelled["other"]
    shares = {label: right[label] / count for label, count in labelled.items()}
    assert min(share for label, share in shares.items() if label not in ("stac", "sos")) > 0.98, shares
    assert shares["stac"] > 0.75 and shares["sos"] > 0.9
    assert others[False] == 0
    assert others[True] <= 80


@pytest.mark.shared
def test_recorded_documents_are_told_by_what_they_are(shared: Path) -> None:
    reader, rules, wrong, told = PageReader(), SignRules.of(declarations()), [], Counter[str]()
    for path in sorted((shared / "corpus" / "documents").glob("*/*")):
        url = read_url(f"http://recorded.example/{path.name}")
        assert url is not None
        headers = {"content-type": TYPES.get(path.suffix, "text/html")}
        page = Page(url, url, 200, headers, path.read_bytes(), elapsed_ms=1.0, fetched_at=0.0)
        kind, label = kind_of_document(rules, reader.read(page, depth=0)), path.parent.name
        told[label] += kind == label
        reports = label == "exception" and kind in (Kind.WMS, Kind.WFS)  # what they say when they are asked for nothing
        if kind is not None and kind != label and not reports:
            wrong.append((path.name, kind))
    assert wrong == []
    assert {label: told[label] for label in ("wms", "wfs", "wmts", "wcs", "csw", "wps", "sos", "tms", "stac")} == {
        "wms": 136,
        "wfs": 87,
        "wmts": 43,
        "wcs": 41,
        "csw": 18,
        "wps": 9,
        "sos": 6,
        "tms": 3,
        "stac": 37,
    }
