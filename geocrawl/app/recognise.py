"""Say what an address or a page is, what a crawl would request because of it, and which rank or rule it has.

Nothing is probed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from geocrawl.app import wiring
from geocrawl.crawler.learning import read_all, restore
from geocrawl.crawler.refusals import text_rule
from geocrawl.detect.software import Portal, portal_of, portal_of_page
from geocrawl.errors import DatabaseFault, described
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Candidate, Document, Failure, Link, Page, Relevance, Url
from geocrawl.model.details import Why
from geocrawl.page.document import PageReader
from geocrawl.ports import Probe, QueuedLink, Strategy
from geocrawl.probe.registry import probes
from geocrawl.settings import DEFAULT_STRATEGY, Settings
from geocrawl.store import Connection, OptOut, Store, stored_strategy, stored_topic
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.frontier.learner import read_feedback, read_state
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import date_of

MOST_REQUESTS = 20
"""Most requests that are listed for one address."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """An address or a page that was recognised: its software, the kind of its service, what a crawl would request."""

    address: str
    """As it was given."""
    software: str
    """Program that serves the portal, by its name in `data/software.toml`; '' when unknown."""
    kind: str
    """Kind of the service that answers at the address (`geocrawl kinds`); '' for any other address."""
    requests: tuple[str, ...]
    """What a crawl would request because of the address, the likeliest first: the first request to an endpoint, or the
    first page of a list of records; then what it would request if those answered; then the page itself."""

    def as_json(self) -> dict[str, object]:
        """Return the fields under their names; what is unknown is None."""
        values = asdict(self)
        return {**values, "software": self.software or None, "kind": self.kind or None}


class AddressRecogniser:
    """Recognises addresses without any request, and pages that were read."""

    def __init__(self) -> None:
        self._detector = wiring.make_detector()
        self._probes: dict[str, Probe] = {probe.kind: probe for probe in probes()}

    def of_address(self, text: str, url: Url) -> Recognition:
        """Return what an address by itself reveals. `text`: the address as it was given."""
        own, portal = self._detector.of_url(url), portal_of(url)
        guesses = portal.guesses(url.address) if portal is not None and own is None else ()
        return self._recognition(text, url, portal, own, [*self._detector.of_text(url), *guesses])

    def of_page(self, text: str, page: Page) -> Recognition:
        """Return what a page reveals: what it is, the services that it names, and what its software has."""
        document = PageReader().read(page, depth=0)
        named = (
            [] if isinstance(document, Failure) else [candidate for candidate, _ in self._detector.candidates(document)]
        )
        own = self._detector.of_url(page.final)
        if isinstance(document, Document) and not document.xml_root.lower().endswith("exceptionreport"):
            own = next((candidate for candidate in named if candidate.evidence.signal == "document"), own)
        asked = [*self._detector.of_text(page.final), *self._detector.guesses(page), *named]
        return self._recognition(text, page.final, portal_of_page(page), own, asked[:MOST_REQUESTS])

    def _recognition(
        self, text: str, url: Url, portal: Portal | None, own: Candidate | None, asked: Sequence[Candidate | Link]
    ) -> Recognition:
        requests = [*map(self._first_request, asked), *self._later(asked), url.address]
        return Recognition(
            address=text,
            software=portal.software.name if portal is not None else "",
            kind=str(own.endpoint.kind) if own is not None else "",
            requests=tuple(dict.fromkeys(requests))[:MOST_REQUESTS],
        )

    def _later(self, asked: Iterable[Candidate | Link]) -> Iterator[str]:
        """Yield the requests for other kinds of service that are made when a candidate is valid."""
        for address in asked:
            if isinstance(address, Candidate):
                yield from map(self._first_request, self._detector.siblings(address.endpoint))

    def _first_request(self, asked: Candidate | Link) -> str:
        """Return the address of the first request of a candidate's probe, or of a list of records."""
        if isinstance(asked, Link):
            return asked.url.address
        return next(self._probes[asked.endpoint.kind].interview(asked)).url.address


def explain(
    settings: Settings, path: DatabaseUrl, url: Url, say: Callable[[str], object]
) -> tuple[Why, str, Mapping[str, object], str]:
    """Return (what is known, strategy, the parts of the rank, the rule that refuses it or '') of an address.

    A strategy that learns explains with its state so far; `say` receives a line when that state cannot be read.
    """
    with Store.open_readonly(path) as connection:
        found = Catalogue(connection).why(url)
        name, strategy = _strategy(settings, connection, say)
        is_forgotten = OptOut(connection).covers(url.host)
    refused = "forgotten" if is_forgotten else text_rule(settings, date_of(SystemClock().now()))(url)
    page, parent = found.page, found.parent
    if page is None:
        return found, name, {}, refused
    relevance = Relevance.HIGH if parent is None else Relevance(parent.relevance or 0)
    return found, name, strategy.explain(QueuedLink(page.id, url, page.anchor, page.depth, relevance)), refused


def _strategy(settings: Settings, connection: Connection, say: Callable[[str], object]) -> tuple[str, Strategy]:
    """Return the name of the strategy in force, and the strategy with what it has learnt so far."""
    stored = stored_strategy(connection)
    name = settings.strategy or stored or DEFAULT_STRATEGY
    strategy = wiring.make_strategy(replace(settings, topic=settings.topic or stored_topic(connection)), name)
    if strategy.learns and name == stored:
        try:
            restore(strategy, read_state(connection), read_feedback(connection), read_all)
        except DatabaseFault:
            raise
        except Exception as error:  # a dump may be damaged in any way, and the address can still be explained
            say(f"what {name} has learnt cannot be read ({described(error)}): the rank is explained without it")
    return name, strategy
