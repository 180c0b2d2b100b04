"""Recorded and made answers for the probes that ask for JSON: a dictionary of addresses plays the web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from geocrawl.model import Candidate, Evidence, Failure, Kind, Page, Url, Verdict
from geocrawl.ports import Probe
from geocrawl.urls import service_endpoint
from tests.support.answers import page, url

Body = bytes | str | Mapping[str, object]


def answer(body: Body, *, status: int = 200, content_type: str = "application/json", location: str = "") -> Page:
    """An answer whose body may be given as an object."""
    text = json.dumps(body) if isinstance(body, Mapping) else body
    return page(text, status=status, content_type=content_type, location=location)


def candidate(kind: Kind, address: str, *, weak: bool = False, signal: str = "given") -> Candidate:
    """The candidate of this kind that an address is."""
    return Candidate(service_endpoint(kind, url(address)), Evidence(signal, "", address), weak=weak)


def ask(
    probe: Probe, address: str, answers: Mapping[str, Page | Failure], *, weak: bool = False, signal: str = "given"
) -> tuple[Verdict, list[str]]:
    """The verdict and the addresses that were asked for; '*' answers what has no answer of its own."""
    asked: list[str] = []
    interview = probe.interview(candidate(probe.kind, address, weak=weak, signal=signal))
    try:
        question = next(interview)
        while True:
            asked.append(question.url.address)
            question = interview.send(_at(question.url, answers))
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict, asked


def _at(asked: Url, answers: Mapping[str, Page | Failure]) -> Page | Failure:
    found = answers.get(asked.address) or answers.get("*") or page(b"", status=404)
    return replace(found, url=asked, final=asked) if isinstance(found, Page) else found


def judge(probe: Probe, file: Path, address: str) -> Verdict:
    """The verdict on an endpoint that answers every request with this document."""
    content_type = "application/json" if file.suffix == ".json" else "text/xml"
    return ask(probe, address, {"*": page(file.read_bytes(), content_type=content_type)})[0]
