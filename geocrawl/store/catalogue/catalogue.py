"""The door to the catalogue: pages, commands, exports and programs read it through `Catalogue` and nothing else.

    with Catalogue("geocrawl.db") as catalogue:
        for hit in catalogue.find("land use kind:wms alive:30d").hits:
            print(hit.title, hit.url)

Nothing is created or changed. Texts are as strangers wrote them. Functions behind it take a connection; this class
holds it, and the search, which keeps facts of all services in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from geocrawl.filters import Filters
from geocrawl.model import SourceState, Url
from geocrawl.model.catalogue import EndpointService, Layer, ProviderCard, ReportedService, Service
from geocrawl.model.details import Address, EndpointHistory, NewsRow, ServiceDetail, WatchedService, Why
from geocrawl.model.downtimes import Downtime
from geocrawl.model.inspire import ServiceMonth
from geocrawl.model.search import LayerResults, Results, Selection
from geocrawl.model.statistics import Growth, KindCount, SignalYield, SoftwareGrowth, Statistics, Survival
from geocrawl.store.catalogue.downtimes import read_downtimes
from geocrawl.store.catalogue.index.index import offers_reference_system, search_engine
from geocrawl.store.catalogue.read import history, provider_report, show, statistics, watched
from geocrawl.store.catalogue.read.harvest import HarvestRecord, is_gone, read_harvest, read_span
from geocrawl.store.catalogue.read.sources import read_sources
from geocrawl.store.catalogue.services import read_endpoints, read_layers, read_services, read_thumbnail
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import open_readonly
from geocrawl.urls.database import DatabaseUrl, ServerDatabase, place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geocrawl.store.catalogue.search.engine import SearchEngine

ALL = Filters()
"""No condition."""
EVERYTHING = Selection()
"""Selects all services."""


class Catalogue:
    """Reads one catalogue; only the thread that opened it may use it. Every method raises DatabaseFault for a database
    that cannot be read."""

    def __init__(self, source: str | DatabaseUrl | Connection, *, with_secrets: bool = False) -> None:
        """Open the catalogue at a path or URL, which a `with` statement or `close` closes, or read a connection.

        `with_secrets`: addresses in full, with their keys and passwords. Raises DatabaseFault when it does not exist.
        """
        self.with_secrets = with_secrets
        self._opened = ExitStack()
        if isinstance(source, str | Path | ServerDatabase):
            source = self._opened.enter_context(open_readonly(place_of(source)))
        self._connection: Connection = source

    def close(self) -> None:
        """Close what the constructor opened."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> DatabaseUrl:
        """Return where the catalogue is."""
        return self._connection.path

    def snapshot(self) -> AbstractContextManager[object]:
        """Return a context in which all is read as of one moment, also while a crawl writes."""
        return self._connection.snapshot()

    # ----------------------------------------------------------------------- search

    @cached_property
    def _search(self) -> SearchEngine:
        """Return the search. Raises QueryError for own synonyms that cannot be read."""
        return search_engine(self._connection, shows_secrets=self.with_secrets)

    def find(self, text: str | Sequence[str] = "", filters: Filters = ALL, **options: Any) -> Results:
        """Return the services that a query finds, with facets and how it was read: `SearchEngine.search`."""
        return self._search.search(text, filters, **options)

    def find_layers(self, text: str | Sequence[str] = "", filters: Filters = ALL, **options: Any) -> LayerResults:
        """Return the layers that a query finds: `SearchEngine.layers`."""
        return self._search.layers(text, filters, **options)

    def find_numbers(self, text: str | Sequence[str] = "", filters: Filters = ALL, **options: Any) -> list[int]:
        """Return the numbers of the services that `find` with `apart` returns, in its order."""
        return self._search.in_order(text, filters, **options)

    def numbers(self, text: str = "", filters: Filters = ALL) -> frozenset[int]:
        """Return the numbers of all services that a query finds."""
        return self._search.numbers(text, filters)

    def selection(self, text: str = "", filters: Filters = ALL) -> Selection:
        """Return the services that a query and conditions choose. Kind, box, level and being alive need no search."""
        simple = Filters(kinds=filters.kinds[:1], box=filters.box, alive=filters.alive, level=filters.level)
        if text.strip() or filters != simple:
            return Selection(ids=self.numbers(text, filters))
        kind = filters.kinds[0] if filters.kinds else None
        return Selection(kind, filters.box, filters.alive, filters.level or None)

    def offers_reference_system(self, code: str) -> bool:
        """Return whether any service or layer is offered in a reference system, such as EPSG:4326."""
        return offers_reference_system(self._connection, code)

    def extents(self) -> NDArray[np.float64]:
        """Return west, south, east and north in degrees of each service with a known extent, shape (services, 4)."""
        return self._search.extents()

    def topics(self, most: int) -> list[str]:
        """Return the words of the field that occur in most titles of services, the commonest first."""
        return self._search.topics(most)

    # ----------------------------------------------------------------------- services and layers

    def number(self, number: int) -> int:
        """Return the number that a service has now, after services became one."""
        return show.current_number(self._connection, number)

    def service(self, number: int, *, past_until: float | None = None) -> ServiceDetail | None:
        """Return a service with its layers, endpoints and evidence; None for an unknown number.
        `past_until`: the time until which its histories and news are read, too."""
        return show.service_detail(self._connection, self.number(number), past_until=past_until)

    def service_at(self, url: Url, kind: str = "") -> ServiceDetail | None:
        """Return the service at an address, the one of `kind` among several; None at an unknown address."""
        return show.service_at(self._connection, url, kind)

    def addresses(self, number: int) -> tuple[Address, ...]:
        """Return the addresses of a service, the best first."""
        return show.addresses_of(self._connection, self.number(number))

    def addresses_at(self, url: Url) -> tuple[Address, ...]:
        """Return the endpoints at an address that answered at some time, one a kind."""
        return show.addresses_at(self._connection, url)

    def why(self, url: Url) -> Why:
        """Return the page at an address, the page on which it was found, and the endpoints of the address."""
        return show.read_why(self._connection, url)

    def read_services(self, selection: Selection = EVERYTHING) -> Iterator[Service]:
        """Yield the selected services by their numbers; one is read at a time."""
        return read_services(self._connection, selection, with_secrets=self.with_secrets)

    def read_endpoints(self, selection: Selection = EVERYTHING) -> Iterator[EndpointService]:
        """Yield the endpoints of the selected services, their addresses in full; without a condition also those that
        never were valid."""
        return read_endpoints(self._connection, selection)

    def read_layers(self, selection: Selection = EVERYTHING) -> Iterator[Layer]:
        """Yield the layers of the selected services, by service and in the order of its document."""
        return read_layers(self._connection, selection)

    def thumbnail(self, number: int) -> bytes | None:
        """Return the latest picture of a service that a content check kept, a PNG; None for none."""
        return read_thumbnail(self._connection, number)

    # ----------------------------------------------------------------------- over time

    def history(self, number: int, now: float) -> tuple[EndpointHistory, ...]:
        """Return availability, response times and changes of each address of a service."""
        return history.history_of_service(self._connection, self.number(number), now)

    def history_at(self, url: Url, now: float) -> tuple[EndpointHistory, ...]:
        """Return the same for each endpoint at an address, one a kind."""
        found = (history.history_of_address(self._connection, key, now) for key in show.keys_at(self._connection, url))
        return next(filter(None, found), ())

    def downtimes(self) -> list[Downtime]:
        """Return planned downtimes and what persons acknowledged, the oldest first."""
        return read_downtimes(self._connection)

    def watched_services(self, now: float, most: int = 1_000_000, skipped: int = 0) -> list[WatchedService]:
        """Return the services that are watched, those that are not alive first."""
        return watched.watched_services(self._connection, now, most, skipped)

    def watched_count(self) -> int:
        """Return the number of services that are watched."""
        return watched.count_watched(self._connection)

    def changes(self, since: float, most: int) -> Iterator[dict[str, object]]:
        """Yield changes of health and of content, newest first."""
        return history.changes_since(self._connection, since, most)

    def news(self, most: int, numbers: Sequence[int] | None = None) -> list[NewsRow]:
        """Return the latest news of all services, or of these, newest first."""
        return history.read_news(self._connection, most, numbers)

    def survival(self) -> Survival:
        """Return how long services live."""
        return history.read_survival(self._connection)

    # ----------------------------------------------------------------------- statistics

    def statistics(self) -> Statistics:
        """Return counts of software, versions and deviations over the whole catalogue."""
        return statistics.read_statistics(self._connection)

    def growth(self, parts: int) -> Growth | None:
        """Return the number of known services over time in equal parts; None for an empty catalogue."""
        return statistics.read_growth(self._connection, parts)

    def software_growth(self, parts: int) -> SoftwareGrowth | None:
        """Return the same for each server software."""
        return statistics.read_software_growth(self._connection, parts)

    def kind_counts(self) -> list[KindCount]:
        """Return the counts of each kind, the commonest first."""
        return statistics.kind_counts(self._connection)

    def signals(self) -> list[SignalYield]:
        """Return what each way of finding services found, by kind, the most valid endpoints first."""
        return statistics.signal_yields(self._connection)

    def layer_count(self) -> int:
        """Return the number of named layers."""
        return statistics.count_layers(self._connection)

    def last_answers(self, after: int, most: int) -> list[tuple[int, float]]:
        """Return (number, time of the last valid answer) of the services after a number."""
        return statistics.service_numbers(self._connection, after, most)

    def last_number(self) -> int:
        """Return the highest number of a service; 0 for an empty catalogue."""
        return statistics.last_service_number(self._connection)

    def month(self, start: float, end: float) -> Iterator[ReportedService]:
        """Yield each service that was found, probed or changed between two times."""
        return statistics.month_report(self._connection, start, end)

    def service_months(
        self, months: Sequence[tuple[float, float]], number: int | None = None
    ) -> Iterator[ServiceMonth]:
        """Yield how available and how fast each service, or the one of a number, was in each month."""
        return history.service_months(self._connection, months, number if number is None else self.number(number))

    # ----------------------------------------------------------------------- providers and harvests

    def providers(self, most: int) -> list[tuple[str, int]]:
        """Return (provider, number of services) of the providers with the most services."""
        return provider_report.provider_counts(self._connection, most)

    def provider(self, name: str) -> ProviderCard | None:
        """Return the report card of the provider of just this name; None for none."""
        return provider_report.provider_card(self._connection, name)

    def provider_cards(self, words: str = "") -> Iterator[ProviderCard]:
        """Yield the report card of each provider whose name holds `words`."""
        return provider_report.provider_cards(self._connection, words)

    def harvest(self, after: int, since: float, until: float, most: int) -> list[HarvestRecord]:
        """Return the records behind the number `after` of services that were valid last in a span, or are gone."""
        return read_harvest(self._connection, after, since, until, most)

    def sources(self, *, state: str = "", most: int = 50) -> tuple[SourceState, ...]:
        """Return how much was read of other people's catalogues, the latest first, and what their records led to.

        `state`: only those that are being read (reading), were read whole (whole) or were not (short); '' for all."""
        return read_sources(self._connection, state=state, most=most)

    def is_gone(self, number: int) -> bool:
        """Return whether there was a service of this number, and is no more."""
        return is_gone(self._connection, number)

    def span(self) -> tuple[float, float]:
        """Return the times of the first and the last of the services' last valid answers; zeros without services."""
        return read_span(self._connection)
