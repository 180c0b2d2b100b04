"""Define the tables of limits: opt-outs of hosts, and the counts behind the budgets of patterns and sites."""

from __future__ import annotations

from sqlalchemy import Column, text
from sqlmodel import Field, SQLModel

from geocrawl.store.schema.columns import HASH, starting_with


class Blocked(SQLModel, table=True):
    """An opt-out: a host that receives no requests, with all hosts below it (`geocrawl forget HOST`)."""

    __table_args__ = {"sqlite_with_rowid": False}
    host: str = Field(primary_key=True)
    reason: str
    at: float


class Pattern(SQLModel, table=True):
    """The finds by pages of one URL pattern (`urls.patterns`), for the budget `max_fruitless_per_pattern`."""

    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over the pattern."""
    fruitless: int
    """Number of requests without a find."""
    finds: int
    """Number of pages that named new endpoints, or led to such pages."""
    last_relevance: int
    """Relevance of the last page that was read, plus 1; 0: none was read."""
    late: int = starting_with(text("0"), 0)
    """Number of requests beyond the budget when the queue was empty otherwise, for the limit `max_late_per_pattern`."""


class Site(SQLModel, table=True):
    """A registered domain, with the counts behind the limits on one site."""

    __table_args__ = {"sqlite_with_rowid": False}
    name: str = Field(primary_key=True)
    hosts: int
    """Number of different hosts seen of the site, for the cap `max_hosts_per_site`."""
    held_at: float | None = None
    """Time since which the site is quarantined, until a person decides (`geocrawl release SITE`); NULL: not
    quarantined.
    """
    held_for: str
    """Reason of the quarantine: the pattern of the site's endpoints that was seen too often."""
    released: int
    """1: a person has released the site, which is not quarantined again."""


class Alike(SQLModel, table=True):
    """The number of services of a site with addresses of one pattern, for the cap `max_alike_services`."""

    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over site and pattern."""
    services: int


class QueryGroup(SQLModel, table=True):
    """The number of addresses seen that differ only in their query, for the cap `max_queries_per_path`."""

    __tablename__ = "query_group"
    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over host and path."""
    seen: int
