"""Define the tables of facts about the whole database, running totals, runs, and daily counts."""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary
from sqlmodel import Field, SQLModel


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
    """The process of the run: `machine boot namespace started:pid`; `machine:pid` from former versions and without
    /proc.
    """
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
