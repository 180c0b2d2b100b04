"""Candidates of every kind, and interviews with them on recorded answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from geocrawl.model import Candidate, Evidence, Failure, Kind, Page, Verdict
from geocrawl.ports import Probe
from geocrawl.probe.registry import probes
from geocrawl.urls import service_endpoint
from tests.support.answers import page, run_interview, url

ADDRESS = "http://maps.example.org/service"


def probe_of(kind: Kind) -> Probe:
    """The probe of a kind."""
    return next(probe for probe in probes() if probe.kind is kind)


def candidate_of(kind: Kind, address: str = ADDRESS, *, weak: bool = False) -> Candidate:
    """A candidate of this kind, as a person's typing makes it."""
    return Candidate(service_endpoint(kind, url(address)), Evidence("given", "", address), weak=weak)


def interview(
    kind: Kind, answers: Mapping[str, Page | Failure], address: str = ADDRESS, *, weak: bool = False
) -> tuple[Verdict, list[str]]:
    """The verdict and the VERSION of each request, as `run_interview` has them."""
    return run_interview(probe_of(kind).interview(candidate_of(kind, address, weak=weak)), answers)


def verdict_on(kind: Kind, body: bytes | str, *, content_type: str = "text/xml") -> Verdict:
    """The verdict when every request is answered with this body."""
    return interview(kind, {"*": page(body, content_type=content_type)})[0]


TEXT_ELSEWHERE = {
    "geotools_1_1_1Capabilities-xxe.xml": Kind.WMS,
    "geotools_1_3_0Capabilities-xxe.xml": Kind.WMS,
    "geotools_GetCapabilities-13.xml": Kind.WFS,
}
"""Recorded answers that name a file of the reader's machine, which is not read."""


def documents(shared: Path, label: str) -> list[Path]:
    """The recorded answers of a label, without those that take a text from another place."""
    files = sorted((shared / "corpus" / "documents" / label).iterdir())
    return [file for file in files if file.name not in TEXT_ELSEWHERE]
