"""A probe's interview with a server that gives one answer to whatever it is asked."""

from __future__ import annotations

from dataclasses import replace

from geocrawl.detect import Detector
from geocrawl.formats.raster import is_picture
from geocrawl.model import Candidate, Endpoint, Evidence, Failure, Kind, Page, Status, Verdict
from geocrawl.ports import Probe
from geocrawl.probe.decoding import read_picture
from geocrawl.probe.registry import declarations
from geocrawl.urls import read_url

MAX_REQUESTS = 8
"""A probe that asks more often asks without end."""


def candidate(kind: Kind) -> Candidate:
    """Return an endpoint of this kind that a person has typed."""
    url = read_url("http://recorded.example/service")
    assert url is not None, "a well-formed address"
    given = Detector(declarations()).candidate_at(url)
    return Candidate(Endpoint(kind, given.endpoint.key, url), Evidence("given"))


def with_picture(answer: Page | Failure) -> Page | Failure:
    """Return an answer with the image in its body decoded, as a content check is sent it."""
    if isinstance(answer, Failure) or not is_picture(answer.body):
        return answer
    return replace(answer, picture=read_picture(answer.body))


def interview(probe: Probe, body: bytes, content_type: str) -> Verdict:
    """Return the verdict of a probe that gets this body for every request. Raises what the probe raises."""
    requests = probe.interview(candidate(probe.kind))
    try:
        asked = next(requests)
        for _ in range(MAX_REQUESTS):
            asked = requests.send(Page(asked.url, asked.url, 200, {"content-type": content_type}, body, 1.0, 0.0))
    except StopIteration as end:
        verdict: Verdict = end.value
        assert (verdict.service is None) == (verdict.status is Status.INVALID), "a service goes with a valid verdict"
        return verdict
    raise AssertionError(f"asked more than {MAX_REQUESTS} times")
