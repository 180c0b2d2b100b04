"""Understand what was fetched: read documents, recognise services, refuse addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geocrawl.model import Candidate, Document, Endpoint, Page, Url


class Reader(Protocol):
    """Bytes to `Document`. Never raises on any bytes."""

    def read(self, page: Page, *, depth: int) -> Document: ...


class Recogniser(Protocol):
    """Which links, forms and documents are candidate services."""

    def candidates(self, document: Document) -> Sequence[tuple[Candidate, int | None]]:
        """Each with the index of its link in `document.links`; None when the document itself is one."""

    def of_url(self, url: Url) -> Candidate | None:
        """The candidate that an address by itself is, with evidence still to be filled in."""

    def siblings(self, endpoint: Endpoint) -> Sequence[Candidate]:
        """Endpoints of other kinds that servers of this form of address have beside a valid one."""


class Refusals(Protocol):
    """Why an address is not visited: stop rules and trap guards by its text, and the scope of the crawl."""

    def reason(self, url: Url) -> str:
        """'' lets it pass; else a code such as stop:media, trap:calendar or scope."""

    def admit(self, url: Url) -> None:
        """Take the host that a seed redirects to into the scope."""
