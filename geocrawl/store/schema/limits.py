"""What limits a crawl: hosts that are left alone, and the counts behind the budgets of patterns and sites."""

from __future__ import annotations

from sqlalchemy import Column, text
from sqlmodel import Field, SQLModel

from geocrawl.store.schema.columns import HASH, starting_with


class Blocked(SQLModel, table=True):
    """A host that is left alone on request, with all hosts beneath it (`geocrawl forget HOST`)."""

    __table_args__ = {"sqlite_with_rowid": False}
    host: str = Field(primary_key=True)
    reason: str
    at: float


class Pattern(SQLModel, table=True):
    """What the pages of one URL pattern brought (`urls.patterns`), for the budget `max_fruitless_per_pattern`."""

    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over the pattern."""
    fruitless: int
    """Requests that brought nothing new."""
    finds: int
    """Pages that brought endpoints nobody knew, or led to such pages."""
    last_relevance: int
    """Relevance of the page that was read last, plus 1; 0: none was read."""
    late: int = starting_with(text("0"), 0)
    """Requests granted beyond the budget when nothing else waited, for the limit `max_late_per_pattern`."""


class Site(SQLModel, table=True):
    """A registered domain, with the counts behind the limits on one site."""

    __table_args__ = {"sqlite_with_rowid": False}
    name: str = Field(primary_key=True)
    hosts: int
    """Different hosts seen of the site, for the cap `max_hosts_per_site`."""
    held_at: float | None = None
    """Since when the site is quarantined, until a person looks at it (`geocrawl release SITE`); NULL: it is not."""
    held_for: str
    """What was seen too often: the pattern of the site's endpoints."""
    released: int
    """1: a person has looked, and the site is not quarantined again."""


class Alike(SQLModel, table=True):
    """How many services of a site have addresses of one pattern, for the cap `max_alike_services`."""

    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over site and pattern."""
    services: int


class QueryGroup(SQLModel, table=True):
    """How many addresses were seen that differ only in their query, for the cap `max_queries_per_path`."""

    __tablename__ = "query_group"
    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over host and path."""
    seen: int
