"""Understand what was fetched: read documents, recognise services, refuse addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from geocrawl.model import Candidate, Document, Endpoint, Failure, Link, Page, Url

T = TypeVar("T")


class Reader(Protocol):
    """Reads the bytes of an answer as a `Document`. Never raises, whatever the bytes."""

    def read(self, page: Page, *, depth: int) -> Document: ...


class ReadingPool(Protocol):
    """Processes and threads for work that would block the event loop."""

    def takes(self, answer: Page) -> bool:
        """Return whether reading this answer may take so long that it must go through `run`. Costs microseconds."""

    async def run(self, answer: Page, think: Callable[[], T]) -> T | Failure:
        """Return what `think` returns, which reads `answer`; a Failure when a limit on time or memory ended it.

        `think` and its result are pickled: a `functools.partial` of a function or method of a module, and values. An
        exception of `think` is a defect of geocrawl, and is raised here.
        """

    async def in_thread(self, think: Callable[[], T]) -> T:
        """Return what `think` returns, called in a thread because it needs the state of this process; the event loop
        continues meanwhile, more slowly."""


class Recogniser(Protocol):
    """Recognises which links, forms and documents may be services."""

    def candidates(self, document: Document) -> Sequence[tuple[Candidate, int | None]]:
        """Return the candidates of a document, each with the index of its link in `document.links`, or with None when
        no link leads there as an ordinary page."""

    def of_url(self, url: Url) -> Candidate | None:
        """Return the candidate that an address by itself names, with its evidence still incomplete; None for an
        ordinary page."""

    def siblings(self, endpoint: Endpoint) -> Sequence[Candidate]:
        """Return endpoints of other kinds that servers with this form of address have besides a valid endpoint."""

    def instead(self, refused: Candidate) -> Sequence[Candidate]:
        """Return endpoints of other kinds at an address where a guessed kind was refused with an exception report."""

    def guesses(self, page: Page) -> Sequence[Candidate | Link]:
        """Return the services and lists of records that the software of a page, known by its address or its markup, has
        beneath its root, the likeliest first."""


class Refusals(Protocol):
    """The reasons why addresses are not visited: stop rules, trap guards, and the scope of the crawl."""

    def reason(self, url: Url) -> str:
        """Return why an address is not visited, such as stop:media, trap:calendar or scope; '' when it is."""

    def is_inside(self, url: Url) -> bool:
        """Return whether an address is in the scope of the crawl, whatever else may be said against a visit."""

    def admit(self, url: Url) -> None:
        """Add the host that a seed redirects to to the scope."""
