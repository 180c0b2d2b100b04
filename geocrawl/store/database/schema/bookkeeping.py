"""Define the tables of facts about the whole database, running totals, runs, daily counts, and watches."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from geocrawl.store.database.schema.columns import starting_with


class Meta(SQLModel, table=True):
    """One fact about the whole database: `strategy` (its name), `strategy:state` (its dump), `max_depth` …"""

    name: str = Field(primary_key=True)
    value: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class Counter(SQLModel, table=True):
    """A running total, so that no query counts millions of rows: `page:visited`, `page:waiting:8` (tier 8),
    `probe:failed` …; `turn` is the number of the last settlement."""

    __table_args__ = {"sqlite_with_rowid": False}
    name: str = Field(primary_key=True)
    value: int


class Run(SQLModel, table=True):
    """One run of `geocrawl crawl` or `probe --save`."""

    id: int = Field(primary_key=True)
    started_at: float
    ended_at: float | None = None
    owner: str
    """The process of the run, `machine token:pid`."""
    strategy: str
    settings: str
    """JSON mapping of the settings that differ from their defaults; secrets are left out."""
    pages: int | None = None
    services: int | None = None
    stopped: str | None = None
    """Reason why the run ended."""


class Daily(SQLModel, table=True):
    """One of the daemon's daily counts: pages, probes, valid, failures …"""

    __table_args__ = {"sqlite_with_rowid": False}
    day: str = Field(primary_key=True)
    """YYYY-MM-DD, UTC."""
    name: str = Field(primary_key=True)
    value: int


class Watch(SQLModel, table=True):
    """A service or a saved search, and who is told when it changes (`geocrawl watch`)."""

    id: int = Field(primary_key=True)
    service_id: int | None = None
    """The service; NULL for a saved search."""
    query: str
    """The saved search; '' for a service."""
    recipient: str
    """Web address, `mail:ADDRESS` or `file:PATH`; '': nobody is told."""
    secret: str
    """Key of the webhook's signature."""
    created_at: float
    known: str
    """JSON mapping: id of each service that is watched → 1: it was dead at the last look; 0: it was not."""
    change_id: int
    """Highest id in `change` at the last look."""
    sent_at: float | None = None
    failures: int = starting_with(text("0"), 0)
    """Failed deliveries in a row."""
    retry_at: float = starting_with(text("0"), 0.0)
    busy_until: float = starting_with(text("0"), 0.0)
    """Time until which one process alone delivers the watch's notices."""
    last_error: str = starting_with(text("''"), "")
    every_s: float | None = None
    """Time between two probes of what is watched; NULL: the pace of its health."""


class Downtime(SQLModel, table=True):
    """A time in which failures of a service, or of all services of a host, are excused (`geocrawl watch downtime`)."""

    id: int = Field(primary_key=True)
    service_id: int | None = None
    """The service; NULL for all services of the host."""
    host: str
    """The host; '' for a service."""
    starts_at: float
    ends_at: float | None = None
    """NULL: for ever; of an acknowledgement, until the service is well again."""
    weekly: str
    """Days and hours, such as 'sun 02:00-04:00'; '': all of the time."""
    zone: str
    """Time zone of the hours."""
    is_acknowledged: int
    """1: a person acknowledged failures (`geocrawl watch ack`); 0: it was planned."""
    note: str
    created_at: float


class Notice(SQLModel, table=True):
    """A change of a service that a watch reports; the row is deleted 30 days after the notice was sent."""

    __table_args__ = (Index("notice_watch", "watch_id", "sent_at"),)
    id: int = Field(primary_key=True)
    watch_id: int = Field(foreign_key="watch.id")
    at: float
    what: str
    """died, returned, layers-removed, new"""
    service_id: int
    detail: str
    """JSON mapping: layers, more_layers, more_services, is_last."""
    sent_at: float | None = None
    """Time of delivery; NULL: the notice waits."""
