"""Make candidates of the endpoints that an answer names."""

from __future__ import annotations

from geocrawl.model import Candidate, Evidence, Kind, Url
from geocrawl.urls import service_endpoint

SIGNAL = "answer"
"""`Evidence.signal` of an endpoint that a service's answer named."""


def lead(kind: Kind, url: Url, page: Url, anchor: str = "") -> Candidate:
    """Return the endpoint of this kind at `url`, named by the answer of `page`, as a candidate."""
    return Candidate(service_endpoint(kind, url), Evidence(SIGNAL, page.address, url.address, anchor))
