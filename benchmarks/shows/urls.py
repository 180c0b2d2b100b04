"""Addresses by string alone: precision and recall of every kind on the labelled list, hard negatives, speed.

Hosts are split in two halves by a hash. Rules were made looking at the one half; the figures are of the other.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import machine
from geocrawl.detect import Detector
from geocrawl.model import Kind, Url
from geocrawl.probe.registry import declarations
from geocrawl.urls import read_url
from tests.support.places import shared_folder


class Row(NamedTuple):
    """One labelled address and what was made of it."""

    url: Url
    label: str
    note: str
    found: str
    """Kind of the candidate; '' for none."""
    weak: bool


def main(arguments: list[str]) -> None:
    """Judge the labelled addresses, write c_urls.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows urls", description=__doc__)
    parser.add_argument("--tuning", action="store_true", help="show the half that rules are made on, with its errors")
    options = parser.parse_args(arguments)
    rows = judge(shared_folder() / "corpus" / "urls.csv")
    if options.tuning:
        _show_errors([row for row in rows if is_tuning(row.url)])
        return
    figures = measure(rows)
    for kind, each in figures["kinds"].items():
        print(f"   {kind:<13}{json.dumps(each)}")
    print(json.dumps({key: value for key, value in figures.items() if key != "kinds"}, indent=1, ensure_ascii=False))
    print(machine.write("c_urls", figures))


def judge(path: Path) -> list[Row]:
    """Every address that can be read, with its label and the candidate that it is."""
    detector = Detector(declarations())
    rows = []
    with path.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            url = read_url(line["url"])
            if url is None:
                continue
            found = detector.of_url(url)
            kind = str(found.endpoint.kind) if found else ""
            rows.append(Row(url, line["label"], line["note"], kind, bool(found and found.weak)))
    return rows


def is_tuning(url: Url) -> bool:
    """Whether an address lies in the half that rules are made on: all of a host, by a hash."""
    return hashlib.sha256(url.host.encode()).digest()[0] % 2 == 0


def measure(rows: list[Row]) -> dict[str, Any]:
    """Figures of the half that no rule was made on, and the hard negatives of both."""
    held = [row for row in rows if not is_tuning(row.url)]
    negatives = [row for row in rows if row.note == "hard-negative"]
    accepted = [row for row in negatives if row.found]
    other = [row for row in held if row.label == "other"]
    return {
        "addresses": {"all": len(rows), "held_out": len(held)},
        "kinds": {str(kind): of_kind(held, str(kind)) for kind in Kind},
        "services_missed": sum(row.label != "other" and not row.found for row in held),
        "services_taken_for_another_kind": sum(
            row.label != "other" and row.found not in ("", row.label) for row in held
        ),
        "other_accepted": {
            "of": len(other),
            "strong": sum(bool(row.found) and not row.weak for row in other),
            "weak": sum(row.weak for row in other),
            "by_note": dict(Counter(row.note or "ordinary" for row in other if row.found)),
        },
        "hard_negatives": {
            "of": len(negatives),
            "accepted": len(accepted),
            "strong": sum(not row.weak for row in accepted),
            "which": sorted({f"{row.found}: {row.url.address}" for row in accepted})[:40],
        },
        "addresses_a_second": speed([row.url for row in rows]),
    }


def of_kind(rows: list[Row], kind: str) -> dict[str, Any]:
    """Precision and recall of one kind; None where nothing was labelled or accepted."""
    labelled = sum(row.label == kind for row in rows)
    accepted = sum(row.found == kind for row in rows)
    right = sum(row.label == kind == row.found for row in rows)
    return {
        "labelled": labelled,
        "accepted": accepted,
        "right": right,
        "precision": round(right / accepted, 4) if accepted else None,
        "recall": round(right / labelled, 4) if labelled else None,
    }


def speed(urls: list[Url]) -> int:
    """Addresses judged a second, none of them twice; the best of three runs."""
    best = float("inf")
    for _ in range(3):
        detector, begun = Detector(declarations()), time.perf_counter()
        for url in urls:
            detector.of_url(url._replace(identity=f"{url.identity}#{begun}"))
        best = min(best, time.perf_counter() - begun)
    return round(len(urls) / best)


def _show_errors(rows: list[Row]) -> None:
    pairs = Counter((row.label, row.found, row.note) for row in rows if row.found != row.label.replace("other", ""))
    for (label, found, note), count in pairs.most_common():
        print(f"{count:5}  {label} taken for {found or 'nothing'} ({note or 'ordinary'})")
        alike = [row for row in rows if (row.label, row.found, row.note) == (label, found, note)]
        for row in alike[:: max(1, len(alike) // 12)][:12]:
            print(f"         {row.url.address[:160]}")


if __name__ == "__main__":
    main([])
