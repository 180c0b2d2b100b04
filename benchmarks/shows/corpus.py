"""The recorded answers: every WMS accepted with title and layers, nothing else; what is broken with its fault."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.detect import Detector
from geocrawl.model import Page, Status, Url, Verdict
from geocrawl.probe.wms import WmsProbe
from geocrawl.urls import read_url

EXPECTED = machine.ROOT / "tests" / "expectations" / "corpus_wms.json"
LABELS = ("wms", "exception", "other", "broken")


def main(arguments: list[str]) -> None:
    """Judge all recorded documents, write a_corpus.json. SystemExit when one is judged wrongly."""
    argparse.ArgumentParser(prog="python -m benchmarks.shows corpus", description=__doc__).parse_args(arguments)
    figures = measure(machine.shared_folder() / "corpus" / "documents")
    print(json.dumps({key: value for key, value in figures.items() if key != "broken"}, indent=1, ensure_ascii=False))
    for name, row in figures["broken"].items():
        print(f"   broken/{name}: {row}")
    print(machine.write("a_corpus", figures))
    if figures["not_as_expected"] or figures["accepted"]["exception"] or figures["accepted"]["other"]:
        raise SystemExit("recorded answers are judged wrongly")


def measure(documents: Path) -> dict[str, Any]:
    """Counts by label, what differs from the checked-in expectations, and each broken document's verdict."""
    verdicts = {label: {path.name: judge(path) for path in sorted((documents / label).iterdir())} for label in LABELS}
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    found = {name: facts(verdict) for name, verdict in verdicts["wms"].items()}
    deviations = Counter(each.code for verdict in verdicts["wms"].values() for each in verdict.deviations)
    return {
        "documents": {label: len(each) for label, each in verdicts.items()},
        "accepted": {label: sum(map(is_valid, each.values())) for label, each in verdicts.items()},
        "not_as_expected": sorted(name for name in found | expected if found.get(name) != expected.get(name)),
        "without_layers": sorted(name for name, row in found.items() if row.get("layers") == 0),
        "deviations_of_wms": dict(deviations.most_common()),
        "rejected_for": {label: dict(Counter(v.reason for v in verdicts[label].values())) for label in LABELS[1:]},
        "broken": {
            name: {
                "status": verdict.status,
                "reason": verdict.reason,
                "deviations": [d.code for d in verdict.deviations],
            }
            for name, verdict in verdicts["broken"].items()
        },
    }


def judge(path: Path) -> Verdict:
    """The verdict on an endpoint that answers every request with this document."""
    body = path.read_bytes()
    interview = WmsProbe().interview(Detector().given(_url("http://recorded.example/wms")))
    try:
        asked = next(interview)
        while True:
            page = Page(asked.url, asked.url, 200, {"content-type": "text/xml"}, body, 1.0, 0.0)
            asked = interview.send(page)
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict


def _url(text: str) -> Url:
    url = read_url(text)
    assert url is not None, f"{text} is an address"
    return url


def is_valid(verdict: Verdict) -> bool:
    """Whether the document was accepted."""
    return verdict.status is Status.VALID


def facts(verdict: Verdict) -> dict[str, Any]:
    """What the expectation file holds of a service."""
    service = verdict.service
    if service is None:
        return {"reason": verdict.reason, "named_layers": None}
    named = sum(bool(layer.name) for layer in service.layers)
    return {"title": service.title, "version": service.version, "named_layers": named, "layers": len(service.layers)}
