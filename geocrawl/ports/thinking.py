"""Define the parts that think and do no I/O: readers, recognisers, refusals, probes, content checks and strategies."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from geocrawl.model import (
    Attempt,
    Candidate,
    ContentReport,
    Document,
    Endpoint,
    Failure,
    Feedback,
    Field,
    Judgement,
    Kind,
    Link,
    Page,
    Purpose,
    Rank,
    Relevance,
    Service,
    Url,
    Verdict,
)

T = TypeVar("T")


class Reader(Protocol):
    """Reads the bytes of an answer as a `Document`. Never raises, whatever the bytes."""

    def read(self, page: Page, *, depth: int) -> Document: ...


class ReadingPool(Protocol):
    """Processes and threads for work that would block the event loop."""

    def takes(self, answer: Page, *, suspect: bool = False) -> bool:
        """Return whether reading this answer may take so long that it must go through `run`. Costs microseconds.

        `suspect`: what its address sent may have killed a process, so all of it must.
        """

    async def run(self, answer: Page, think: Callable[[], T]) -> T | Failure:
        """Return what `think` returns, which reads `answer`; a Failure when a limit on time or memory ended it.

        `think` and its result are pickled: a `functools.partial` of a function or method of a module, and values. An
        exception of `think` is a defect of geocrawl, and is raised here.
        """

    async def with_picture(self, answer: Page) -> Page:
        """Return an answer with the image in its body decoded, or with why it is not; any other answer as it is."""

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


# --------------------------------------------------------------------------- probes and content checks
# They ask an endpoint what it is, and a service for content; their caller does the I/O.


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that a probe wants made."""

    url: Url
    purpose: Purpose = Purpose.PROBE


Interview = Generator[Ask, Page | Failure, Verdict]
"""Yields requests, is sent their answers, and returns the verdict; the caller does the I/O."""

Fields = Mapping[str, tuple[Field, ...]]
"""Name of a layer → the fields of its features."""


class FieldQuestion(NamedTuple):
    """A request for the fields of a service's layers."""

    url: Url
    read: Callable[[Page], Fields]
    """Returns the fields that an answer states; {} for any other answer."""


AskFields = Callable[[Endpoint, Service, Attempt], FieldQuestion | None]
"""Returns what is asked after an attempt that delivered content; None for a service without fields."""

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


# --------------------------------------------------------------------------- strategies


@dataclass(frozen=True, slots=True)
class QueuedLink:
    """A waiting link as stored in the database: enough to rank it without reading its page again."""

    id: int
    url: Url
    anchor: str
    depth: int
    page_relevance: Relevance
    """Level of the page on which the link was found (gws eq. 2); HIGH for a seed."""


class Strategy(Protocol):
    """Decides the order of visits. One file each in `priority/`, none importing another."""

    @property
    def name(self) -> str: ...

    @property
    def stride(self) -> int:
        """Return how many links are leased together (best-N-first); 1 for most strategies."""

    @property
    def by_depth(self) -> bool:
        """Return whether a link's score is minus its depth (breadth-first), so that it changes with the depth."""

    @property
    def by_yield(self) -> bool:
        """Return whether a link's score, 0 or more, is its expected yield in any unit: half the score, half the yield.
        Then `economy` holds back pages by the ratio of scores, else by tier (or by depth)."""

    @property
    def needs(self) -> frozenset[str]:
        """Return the parts of a Document that `judge` reads and that are made on request only.

        Known are "headline", "prose" and, for the links, "tag_paths".
        """

    def seed_rank(self) -> Rank: ...

    def judge(self, document: Document) -> Judgement: ...

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Return the rank of a link that another strategy enqueued; None drops the link."""

    @property
    def learns(self) -> bool:
        """Return whether the strategy learns from feedback; else none is stored."""

    def learn(self, feedback: Feedback) -> None:
        """Learn from a settled visit. Deterministic: the same feedback in the same order results in the same state."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return batches of (frontier id, new rank) when links are to be reranked, else None.

        Called after every feedback. A rank of None drops the link.
        """

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return the parts of a link's rank by name, for `geocrawl why`."""

    def dump(self) -> bytes:
        """Return everything learnt so far, for `load`; bounded."""

    def load(self, state: bytes) -> None:
        """Restore the state from a dump. Raises UsageError for a dump of another version."""


@runtime_checkable
class CorrectsRanks(Protocol):
    """A strategy that can correct the ranks which another process gave by an older state of it."""

    def correct(self, feedback: Feedback) -> None:
        """Let the next `revise` return the ranks of all links of a visit, which was learnt before."""


class LevelMeasure(Protocol):
    """Measures the levels of pages and links, which put a link into its sub-queue."""

    def page(self, document: Document) -> Relevance:
        """Return the level of a page (gws eq. 2)."""

    def link(self, address: str, anchor: str) -> Relevance:
        """Return the level of a link by its address and text (gws eq. 3)."""


@runtime_checkable
class MeasuresLevels(Protocol):
    """A strategy that measures levels itself: each page is measured once, for it and for the sub-queues."""

    @property
    def levels(self) -> LevelMeasure: ...


@runtime_checkable
class HasCounts(Protocol):
    """A strategy that can count what it has learnt, for `geocrawl status`."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Return counts by what is counted, in words for people."""
