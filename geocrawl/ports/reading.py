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
        """Return the candidates of a document, each with the index of its link in `document.links`, or with None when
        no link leads there as an ordinary page."""

    def of_url(self, url: Url) -> Candidate | None:
        """Return the candidate that an address by itself is, its evidence not yet complete; None for a page."""

    def siblings(self, endpoint: Endpoint) -> Sequence[Candidate]:
        """Return endpoints of other kinds that servers with this form of address have besides a valid endpoint."""


class Refusals(Protocol):
    """The reasons why addresses are not visited: stop rules, trap guards, and the scope of the crawl."""

    def reason(self, url: Url) -> str:
        """Return why an address is not visited, such as stop:media, trap:calendar or scope; '' when it is."""

    def admit(self, url: Url) -> None:
        """Add the host that a seed redirects to to the scope."""
