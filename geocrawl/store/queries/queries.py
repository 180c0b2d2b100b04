"""Answer questions about a catalogue: one object with a method for every query of this package.

What a method needs is imported when it is called: `status` has to start in a moment, and loads no SQLAlchemy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geocrawl.urls.database import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from geocrawl.model import Feedback, KeptPage, Url
    from geocrawl.model.published import PublishedLayer, PublishedService
    from geocrawl.model.report import ReportRow
    from geocrawl.search import SearchEngine
    from geocrawl.store.engine.connection import Connection
    from geocrawl.store.engine.opt_out import BlockedHost
    from geocrawl.store.maintenance.daemon_lock import Holder
    from geocrawl.store.maintenance.seeds import SeedRow
    from geocrawl.store.queries.addresses import Address
    from geocrawl.store.queries.export import ExportRow
    from geocrawl.store.queries.history import EndpointHistory, Survival
    from geocrawl.store.queries.kinds import KindCount
    from geocrawl.store.queries.news import NewsRow
    from geocrawl.store.queries.pages import KeptPageRow
    from geocrawl.store.queries.published import Selection
    from geocrawl.store.queries.runs import WorkingProcess
    from geocrawl.store.queries.show import ServiceDetail
    from geocrawl.store.queries.signals import SignalYield
    from geocrawl.store.queries.statistics import Growth, SoftwareGrowth, Statistics
    from geocrawl.store.queries.status import CatalogStatus
    from geocrawl.store.queries.why import Why
    from geocrawl.store.queries.workers import Worker


class Queries:
    """Reads one catalogue. Every method raises DatabaseFault when the database cannot be read."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # ----------------------------------------------------------------------- services

    @property
    def path(self) -> Place:
        """Return the place of the database."""
        return self._connection.path

    def search_engine(self, *, shows_secrets: bool = False) -> SearchEngine:
        """Return a search of the catalogue. `shows_secrets`: addresses are not masked.

        Raises QueryError for a file `synonyms.toml` beside the catalogue that cannot be read.
        """
        from geocrawl.search import SearchEngine
        from geocrawl.store.search.index import SqlSearchIndex, own_vocabulary

        vocabulary = own_vocabulary(self.path)
        return SearchEngine(SqlSearchIndex(self._connection), shows_secrets=shows_secrets, vocabulary=vocabulary)

    def offers_reference_system(self, crs: str) -> bool:
        """Return whether any layer of the catalogue is offered in a reference system, such as EPSG:4326."""
        from geocrawl.store.search.index import SqlSearchIndex

        return SqlSearchIndex(self._connection).offers_reference_system(crs)

    def service(self, number: int) -> ServiceDetail | None:
        """Return everything known about a service; None for an unknown number."""
        from geocrawl.store.queries.show import service_detail

        return service_detail(self._connection, number)

    def service_at(self, key: str, kind: str = "") -> ServiceDetail | None:
        """Return the service at an endpoint's key, rather the one of `kind`; None when there is none."""
        from geocrawl.store.queries.show import service_at

        return service_at(self._connection, key, kind)

    def addresses_of(self, number: int) -> tuple[Address, ...]:
        """Return the endpoints of a service, the best first."""
        from geocrawl.store.queries.addresses import addresses_of

        return addresses_of(self._connection, number)

    def addresses_at(self, url: Url) -> tuple[Address, ...]:
        """Return the endpoints at an address that belong to services."""
        from geocrawl.store.queries.addresses import addresses_at

        return addresses_at(self._connection, url)

    def export_rows(self, kind: str | None = None) -> Iterator[ExportRow]:
        """Yield every endpoint that has a verdict, or those of one kind."""
        from geocrawl.store.queries.export import export_rows

        return export_rows(self._connection, kind)

    def snapshot(self) -> AbstractContextManager[None]:
        """Return a context in which all queries see the catalogue of one moment, whatever others write."""
        return self._connection.snapshot()

    def published_services(self, selection: Selection, *, with_secrets: bool = False) -> Iterator[PublishedService]:
        """Yield the selected services by their number, addresses masked unless `with_secrets`."""
        from geocrawl.store.queries.published import published_services

        return published_services(self._connection, selection, with_secrets=with_secrets)

    def published_service(self, number: int, *, with_secrets: bool = False) -> PublishedService | None:
        """Return the service of this number as it is published; None when there is none."""
        from geocrawl.store.queries.published import published_service

        return published_service(self._connection, number, with_secrets=with_secrets)

    def published_layers(self, selection: Selection) -> Iterator[PublishedLayer]:
        """Yield the layers of the selected services, by service and in the order of its document."""
        from geocrawl.store.queries.published import published_layers

        return published_layers(self._connection, selection)

    def selected_ids(self, selection: Selection) -> frozenset[int]:
        """Return the numbers of the selected services."""
        from geocrawl.store.queries.published import selected_ids

        return selected_ids(self._connection, selection)

    def signal_yields(self) -> list[SignalYield]:
        """Return what each way of finding services found."""
        from geocrawl.store.queries.signals import signal_yields

        return signal_yields(self._connection)

    def kind_counts(self) -> list[KindCount]:
        """Return how many services of each kind there are, the commonest kind first."""
        from geocrawl.store.queries.kinds import kind_counts

        return kind_counts(self._connection)

    def statistics(self) -> Statistics:
        """Return counts over the whole catalogue: software, versions, deviations, health."""
        from geocrawl.store.queries.statistics import statistics

        return statistics(self._connection)

    def growth(self, parts: int) -> Growth | None:
        """Return the number of known services over time in `parts` equal parts; None for an empty catalogue."""
        from geocrawl.store.queries.statistics import growth

        return growth(self._connection, parts)

    def software_growth(self, parts: int) -> SoftwareGrowth | None:
        """Return the number of known services of each server software over time in `parts` equal parts; None for an
        empty catalogue."""
        from geocrawl.store.queries.statistics import software_growth

        return software_growth(self._connection, parts)

    def service_numbers(self, after: int, most: int) -> list[tuple[int, float]]:
        """Return (id, time of the last valid answer) of the services after this id, at most `most`."""
        from geocrawl.store.queries.statistics import service_numbers

        return service_numbers(self._connection, after, most)

    def last_service_number(self) -> int:
        """Return the highest id of a service; 0 for an empty catalogue."""
        from geocrawl.store.queries.statistics import last_service_number

        return last_service_number(self._connection)

    def thumbnail(self, number: int) -> bytes | None:
        """Return the latest thumbnail of a service, a PNG; None when there is none."""
        from geocrawl.store.queries.thumbnails import thumbnail

        return thumbnail(self._connection, number)

    def with_thumbnail(self, numbers: Sequence[int]) -> frozenset[int]:
        """Return those of the services that have a thumbnail."""
        from geocrawl.store.queries.thumbnails import with_thumbnail

        return with_thumbnail(self._connection, numbers)

    # ----------------------------------------------------------------------- history

    def news(self, most: int, service: int | None = None) -> list[NewsRow]:
        """Return the latest news of all services, or of one, newest first."""
        from geocrawl.store.queries.news import news

        return news(self._connection, most, service)

    def history_of_service(self, number: int, now: float) -> tuple[EndpointHistory, ...]:
        """Return the histories of a service's endpoints."""
        from geocrawl.store.queries.history import history_of_service

        return history_of_service(self._connection, number, now)

    def history_of_address(self, key: str, now: float) -> tuple[EndpointHistory, ...]:
        """Return the histories of the endpoints with this key."""
        from geocrawl.store.queries.history import history_of_address

        return history_of_address(self._connection, key, now)

    def changes_since(self, since: float, most: int) -> Iterator[dict[str, object]]:
        """Yield at most `most` changes of services since a time, the latest first."""
        from geocrawl.store.queries.history import changes_since

        return changes_since(self._connection, since, most)

    def month_report(self, start: float, end: float) -> Iterator[ReportRow]:
        """Yield each service that was found, probed or changed between two times."""
        from geocrawl.store.queries.report import month_report

        return month_report(self._connection, start, end)

    def survival(self) -> Survival:
        """Return the survival curve of services."""
        from geocrawl.store.queries.history import survival

        return survival(self._connection)

    # ----------------------------------------------------------------------- crawling

    def status(self, now: float) -> CatalogStatus:
        """Return the summary of the catalogue, the queue and the daemon."""
        from geocrawl.store.queries.status import status

        return status(self._connection, now)

    def last_visit_at(self) -> float | None:
        """Return when the last visit was settled; None before the first."""
        from geocrawl.store.queries.status import last_visit_at

        return last_visit_at(self._connection)

    def why(self, url: Url) -> Why:
        """Return what is known of an address as a page and as an endpoint."""
        from geocrawl.store.queries.why import why

        return why(self._connection, url)

    def strategy(self) -> str:
        """Return the name of the strategy that ranked the queue; '' before the first crawl."""
        from geocrawl.store.engine.database import stored_strategy

        return stored_strategy(self._connection)

    def topic(self) -> str:
        """Return the name of that strategy's topic; '' for its own."""
        from geocrawl.store.engine.database import stored_topic

        return stored_topic(self._connection)

    def strategy_state(self) -> bytes | None:
        """Return the strategy's last dump; None when there was none."""
        from geocrawl.store.frontier.feedback_log import read_state

        return read_state(self._connection)

    def feedback(self) -> Iterator[Feedback]:
        """Yield the feedback since the strategy's last dump, in order."""
        from geocrawl.store.frontier.feedback_log import read_feedback

        return read_feedback(self._connection)

    def link_finds(self) -> Iterator[tuple[str, str, bool]]:
        """Yield (anchor, title of the linking page, whether the link led to a valid service) of followed links, for
        training."""
        from geocrawl.store.queries.finds import link_finds

        return link_finds(self._connection)

    # ----------------------------------------------------------------------- kept pages

    def list_kept(self, least: float = 0.0, limit: int | None = None) -> list[KeptPageRow]:
        """Return the kept pages of at least this score without their bodies, the highest first; `limit` None: all."""
        from geocrawl.store.queries.pages import list_kept

        return list_kept(self._connection, least, limit)

    def count_kept(self, least: float = 0.0) -> int:
        """Return the number of kept pages of at least this score."""
        from geocrawl.store.queries.pages import count_kept

        return count_kept(self._connection, least)

    def kept_pages(self, least: float = 0.0, limit: int | None = None) -> Iterator[KeptPage]:
        """Yield the kept pages of at least this score with their bodies, the highest first."""
        from geocrawl.store.queries.pages import kept_pages

        return kept_pages(self._connection, least, limit)

    def kept_page(self, url: Url) -> KeptPage | None:
        """Return the kept page of an address; None when none is kept."""
        from geocrawl.store.queries.pages import kept_page

        return kept_page(self._connection, url)

    # ----------------------------------------------------------------------- operating

    def seeds(self) -> list[SeedRow]:
        """Return the daemon's start pages, by region."""
        from geocrawl.store.maintenance.seeds import read_seeds

        return read_seeds(self._connection)

    def seed_addresses(self) -> list[str]:
        """Return the addresses of the daemon's start pages, those added first at the beginning."""
        from geocrawl.store.maintenance.seeds import seed_addresses

        return seed_addresses(self._connection)

    def services_by_seed(self) -> dict[str, int]:
        """Return how many services were found from each start page, by its address."""
        from geocrawl.store.queries.seed_attribution import services_by_seed

        return services_by_seed(self._connection)

    def opted_out(self) -> list[BlockedHost]:
        """Return the hosts that opted out, by name."""
        from geocrawl.store.engine.opt_out import read_blocked

        return read_blocked(self._connection)

    def has_opted_out(self, host: str) -> bool:
        """Return whether a host, or a parent domain of it, opted out."""
        from geocrawl.store.engine.opt_out import OptOut

        return OptOut(self._connection).covers(host)

    def workers(self, now: float) -> list[Worker]:
        """Return the processes that crawl on the database, the earliest first."""
        from geocrawl.store.queries.workers import workers

        return workers(self._connection, now)

    def working_processes(self, now: float) -> list[WorkingProcess]:
        """Return the daemon, crawls and harvests of other processes that run on the database."""
        from geocrawl.store.queries.runs import working_processes

        return working_processes(self._connection, now)

    def daemon(self, now: float) -> Holder | None:
        """Return the daemon that runs on the database; None when none does."""
        from geocrawl.store.maintenance.daemon_lock import alive_holder

        return alive_holder(self._connection, now)
