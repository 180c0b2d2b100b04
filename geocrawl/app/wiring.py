"""Which class stands behind which port: the one place that knows. Everything else is handed its parts."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl import __version__
from geocrawl.crawler.probe_visit import ProbeVisitor
from geocrawl.model import Candidate, Rank, Url

if TYPE_CHECKING:
    from geocrawl.app.retry_policy import RetryPolicy
    from geocrawl.app.shared_politeness import SharedPoliteness
    from geocrawl.detect import Detector
    from geocrawl.fetch.carrier import Transport
    from geocrawl.fetch.fetcher import PoliteFetcher
    from geocrawl.fetch.record import WarcRecorder
    from geocrawl.ports import Clock, Fetcher, Observer, RobotsStore, Strategy
    from geocrawl.priority.topics.directory import Topic
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database


def make_strategy(settings: Settings, name: str) -> Strategy:
    """The named strategy with its settings (`--set`) and shipped models."""
    from geocrawl.priority.registry import make_strategy as make

    return make(name, settings.set, topic=find_topic(settings.topic) if settings.topic else None)


def find_topic(name: str) -> Topic:
    """The shipped topic of this name, or the user's own. Raises UsageError when there is none."""
    from geocrawl.priority.topics.directory import find_topic as find

    return find(name, topics_folder())


def demand_topic(name: str, path: Path) -> None:
    """Raises UsageError when the topic that a database was crawled for is no more."""
    from geocrawl.errors import UsageError

    try:
        find_topic(name)
    except UsageError as error:
        raise UsageError(
            f"{path}: was crawled for the topic {name}, which is no more; bring it back with `geocrawl topics add "
            f"{name} --text FILE --seeds FILE`, or name another with --topic (`geocrawl topics list` lists them)"
        ) from error


def topics_folder() -> Path | None:
    """Where the user's own topics lie; None for a user without a home."""
    from geocrawl.config import user_folder
    from geocrawl.errors import EnvironmentFault

    try:
        return user_folder("data", os.environ) / "topics"
    except EnvironmentFault:
        return None


def make_detector() -> Detector:
    from geocrawl.detect import Detector
    from geocrawl.probe.registry import declarations

    return Detector(declarations())


def make_probe_visitor(
    settings: Settings,
    fetcher: Fetcher,
    detector: Detector,
    clock: Clock,
    records_rank: Rank,
    wants_lead: Callable[[Candidate, Candidate], bool],
) -> ProbeVisitor:
    from geocrawl.probe.registry import content_checks, probes

    return ProbeVisitor(
        fetcher=fetcher,
        probes=probes(),
        content_checks=content_checks(layers=settings.map_layers) if settings.maps else (),
        recogniser=detector,
        clock=clock,
        retry_first_s=settings.retry_first_s,
        records_rank=records_rank,
        map_requests=settings.map_requests,
        map_requests_per_host=settings.map_requests_per_host,
        siblings=settings.siblings,
        wants_lead=wants_lead,
    )


def make_fetcher(
    settings: Settings,
    robots: RobotsStore,
    clock: Clock,
    transport: Transport | None = None,
    recorder: WarcRecorder | None = None,
    barred: Callable[[Url], str] = lambda _: "",
    heard: Callable[[int], object] = lambda received_bytes: None,
) -> PoliteFetcher:
    from geocrawl.fetch.fetcher import PoliteFetcher
    from geocrawl.fetch.http import user_agent
    from geocrawl.fetch.proxy import proxy_from_environment

    agent = user_agent(settings, __version__)
    environment = None if transport else proxy_from_environment(os.environ)
    return PoliteFetcher(
        settings,
        robots,
        clock,
        user_agent=agent,
        environment=environment,
        transport=transport,
        recorder=recorder,
        barred=barred,
        heard=heard,
    )


def make_recorder(path: Path, seeds: Iterable[Url]) -> WarcRecorder:
    from geocrawl.fetch.record import WarcRecorder

    return WarcRecorder(path, software=f"geocrawl/{__version__}", seeds=[seed.address for seed in seeds])


def system_clock() -> Clock:
    from geocrawl.fetch.clock import SystemClock

    return SystemClock()


def retry_policy(settings: Settings, path: Path, clock: Clock, observer: Observer) -> RetryPolicy:
    """Return the retry policy of an interactive command: wait up to `database_patience_s` for a database that is locked
    or whose disk is full."""
    from geocrawl.app.retry_policy import RetryPolicy, as_lines

    return RetryPolicy(path, clock, as_lines(observer.noted), limit_s=settings.database_patience_s)


def owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@contextmanager
def open_database(path: Path, clock: Clock, *, create: bool = True) -> Iterator[Database]:
    from geocrawl.store.engine.database import Database

    database = Database.open(path, create=create, clock=clock)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def shared_politeness(
    path: Path | None, settings: Settings, clock: Clock, say: Callable[[str], object]
) -> Iterator[SharedPoliteness | None]:
    """A guest of the catalogue at `path`; None when there is none, or when it cannot be used: `say` tells why."""
    from geocrawl.app.shared_politeness import SharedPoliteness, not_shared
    from geocrawl.errors import DatabaseFault
    from geocrawl.store.engine.database import Database
    from geocrawl.store.engine.faults import is_there

    try:
        catalogue = Database.join(path, clock=clock) if path is not None and is_there(path) else None
    except DatabaseFault as error:
        say(not_shared(error))
        catalogue = None
    try:
        yield SharedPoliteness(catalogue, settings, clock, say) if catalogue else None
    finally:
        if catalogue is not None:
            catalogue.connection.close()
