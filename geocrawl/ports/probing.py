"""Ask an endpoint what it is, and a service for content, without doing the I/O."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from geocrawl.model import Candidate, ContentReport, Endpoint, Failure, Kind, Page, Purpose, Service, Url, Verdict


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that a probe wants made."""

    url: Url
    purpose: Purpose = Purpose.PROBE


Interview = Generator[Ask, Page | Failure, Verdict]
"""Yields requests, is sent their answers, and returns the verdict; the caller does the I/O."""

ContentInterview = Generator[Ask, Page | Failure, ContentReport]
"""Like `Interview`, for a content check. A request that is not allowed is answered with a Failure (robots, guard)."""


class Probe(Protocol):
    """Probes services of one kind. Pure: tested from recorded bytes without a socket."""

    @property
    def kind(self) -> Kind: ...

    def interview(self, candidate: Candidate) -> Interview: ...


class ContentCheck(Protocol):
    """Asks a valid service of one kind for content. Pure, like a probe."""

    @property
    def kind(self) -> Kind: ...

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview: ...
