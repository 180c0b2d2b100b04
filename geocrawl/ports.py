"""The protocols between rooms: small, so that each side can be tested and replaced alone.

`crawler/` knows the other rooms by these alone; `app/wiring.py` decides what stands behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from geocrawl.model import (
    Candidate,
    ContentReport,
    Document,
    Endpoint,
    Entry,
    Failure,
    Feedback,
    FrontierStats,
    HostState,
    Judgement,
    Kind,
    Lease,
    Page,
    Purpose,
    Rank,
    Relevance,
    RobotsRecord,
    Service,
    Settled,
    Url,
    Validators,
    Verdict,
    Visit,
)


class Clock(Protocol):
    """The only source of time, so that a year can be simulated in minutes."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""

    async def sleep(self, seconds: float) -> None: ...


# --------------------------------------------------------------------------- fetching


class Turn(Protocol):
    """One leased host's turn: every request of the lease goes through it, and it keeps the host's delay."""

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
    ) -> Page | Failure:
        """Ask for `url` on the leased host, robots.txt and delay obeyed.

        A redirect within the host is followed while `follow(target)` is true (None: always); to another host it is
        never followed: the Page then has `location` and an empty body, and the target takes its own turn.
        `validators` are sent with a request for their own address, no other; `Page.not_modified` says that they hold.
        """

    def sitemaps(self, url: Url) -> Sequence[Url]:
        """The sitemaps that robots.txt of this address's origin names, as far as it was read."""

    @property
    def host(self) -> HostState:
        """The host as it stands after the requests so far, to be written back when the lease is settled."""


class Fetcher(Protocol):
    """Makes turns. Holds the connections; close it once."""

    def turn(self, host: HostState) -> AbstractAsyncContextManager[Turn]: ...

    async def close(self) -> None: ...


class RobotsStore(Protocol):
    """Where robots.txt answers are kept, so that they hold over processes and restarts."""

    def read_robots(self, origin: str) -> RobotsRecord | None: ...

    def write_robots(self, record: RobotsRecord) -> None: ...


# --------------------------------------------------------------------------- understanding


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


# --------------------------------------------------------------------------- strategies


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the database knows of a waiting link: enough to rank it without the page it came from."""

    id: int
    url: Url
    anchor: str
    depth: int
    page_relevance: Relevance
    """Of the page it was found on; HIGH for a seed."""


class Strategy(Protocol):
    """Decides the order of visits. One file each in `priority/`, none importing another."""

    @property
    def name(self) -> str: ...

    @property
    def stride(self) -> int:
        """How many links it wants at once (best-N-first); 1 for most."""

    @property
    def by_depth(self) -> bool:
        """True when a link's score is minus its depth (breadth-first): the frontier keeps it in step with the depth."""

    @property
    def needs(self) -> frozenset[str]:
        """What `judge` reads of a Document that is made on request only: "headline", "prose"."""

    def seed_rank(self) -> Rank: ...

    def judge(self, document: Document) -> Judgement: ...

    def rank(self, waiting: Waiting) -> Rank | None:
        """Rank of a link that another strategy put there; None drops it."""

    @property
    def learns(self) -> bool:
        """False: it needs no feedback, and none are kept."""

    def learn(self, feedback: Feedback) -> None:
        """What a settled visit brought. Deterministic: the same feedback in the same order give the same strategy."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """(frontier id, new rank) in batches when it is time to rank anew, else None. Asked after every feedback.
        A rank of None drops the link."""

    def explain(self, waiting: Waiting) -> Mapping[str, object]:
        """The parts of a link's rank, for `geocrawl why`."""

    def dump(self) -> bytes:
        """Everything strategy_state so far, for `load`; bounded."""

    def load(self, state: bytes) -> None:
        """Take up a former dump. Raises UsageError for one of another version."""


@runtime_checkable
class Counted(Protocol):
    """A strategy that can say how much it holds, for `geocrawl status`."""

    @property
    def counts(self) -> Mapping[str, int]:
        """What is counted → how many, as people read it."""


# --------------------------------------------------------------------------- probing


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that a probe wants made."""

    url: Url
    purpose: Purpose = Purpose.PROBE


Interview = Generator[Ask, Page | Failure, Verdict]
"""Yields requests, is sent answers, returns the verdict: it thinks, the caller does the I/O."""

ContentInterview = Generator[Ask, Page | Failure, ContentReport]
"""Likewise for content. A request that may not be made is answered with a Failure (robots, guard)."""


class Probe(Protocol):
    """One service kind. Pure: tested from recorded bytes without a socket."""

    @property
    def kind(self) -> Kind: ...

    def recognise(self, candidate: Candidate) -> float:
        """How well this probe fits the candidate, 0…1."""

    def interview(self, candidate: Candidate) -> Interview: ...


class ContentCheck(Protocol):
    """Asks a valid service of one kind for content. Pure, like a probe."""

    @property
    def kind(self) -> Kind: ...

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview: ...


# --------------------------------------------------------------------------- storing


class Frontier(Protocol):
    """Which URLs are known, in which state and order. Durable; leases one host at a time."""

    def add_seeds(self, urls: Iterable[Url], rank: Rank, *, again: bool = False) -> int:
        """Put seeds at depth 0; returns how many will be visited. A visited one only with `again`."""

    def add_candidates(self, candidates: Iterable[Candidate], *, again: bool = False) -> int:
        """Queue endpoints to be probed; returns how many will be. One that has a verdict only with `again`."""

    def seeds(self) -> Iterator[Url]:
        """The pages of depth 0."""

    def was_answered(self, url: Url) -> bool:
        """Whether this address was visited as a page or has a verdict as an endpoint."""

    def lease(self, *, pages: bool = True) -> Lease | None:
        """The best ready entry, its host held; None when nothing is ready now. `pages=False`: probes only."""

    def ready_at(self, *, pages: bool = True) -> float | None:
        """When the next entry can be leased (past: at once; held by others: when that expires); None: nothing waits."""

    def others_at_work(self) -> bool:
        """Whether hosts with work are held, when none is by us: what comes of that may be for us, and so is what they
        leave if they die."""

    def known(self, url: Url) -> bool:
        """Whether a page of this identity is in the frontier in any state."""

    def settle(self, visit: Visit) -> Settled:
        """Write all that a visit brought, in one transaction, and free its host."""

    def release(self, lease: Lease, host: HostState | None = None) -> None:
        """Give an entry back unvisited."""

    def rerank(self, ranks: Iterable[tuple[int, Rank | None]], *, through: int | None = None) -> int:
        """Give waiting pages a new rank; returns how many changed. `through`: the feedback that it came after."""

    def feedback(self) -> Iterator[Feedback]:
        """Those since the strategy's last dump, in order."""

    def strategy_state(self) -> bytes | None:
        """The strategy's last dump; None when there was none."""

    def revised(self) -> int:
        """The feedback after which the queue was last ranked anew (`rerank`'s `through`); 0: none was."""

    def clear_feedback(self) -> None:
        """Drop the dump and the feedback: another strategy begins."""

    def waiting(self) -> Iterator[Waiting]: ...

    def stats(self) -> FrontierStats: ...

    def flush(self) -> None:
        """Commit what is pending."""


class Observer(Protocol):
    """Is told what happens, for progress displays, logs and recordings."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """`stats` may be asked at any time; `notes` are lines for a person (what is resumed, what was re-ranked)."""

    def noted(self, text: str) -> None:
        """Is given a line for a person while the run goes on."""

    def leased(self, lease: Lease) -> None: ...

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None: ...
