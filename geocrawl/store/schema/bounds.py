"""What bounds a crawl: opting out, budgets of patterns and sites, caps."""

from __future__ import annotations

from sqlmodel import Field, SQLModel


class Blocked(SQLModel, table=True):
    """A host, and all beneath it, that is left alone (`geocrawl forget HOST`)."""

    __table_args__ = {"sqlite_with_rowid": False}
    host: str = Field(primary_key=True)
    reason: str
    at: float


class Pattern(SQLModel, table=True):
    """What the pages of one URL pattern brought (`urls.patterns`), for the budget `max_fruitless_per_pattern`."""

    key: int = Field(primary_key=True)
    """64 bits of BLAKE2b over the pattern."""
    fruitless: int
    """Requests that brought nothing new."""
    finds: int
    """Pages that brought endpoints nobody knew, or led to such pages."""
    last_relevance: int
    """Of the page that was read last, and 1 more; 0: none was read."""


class Site(SQLModel, table=True):
    """A registered domain, for the bounds on what one may have."""

    __table_args__ = {"sqlite_with_rowid": False}
    name: str = Field(primary_key=True)
    hosts: int
    """Different hosts seen of it, for the cap `max_hosts_per_site`."""
    held_at: float | None = None
    """Since when it waits for a person's look (`geocrawl release SITE`); NULL: it does not."""
    held_for: str
    """What was seen too often: the pattern of its endpoints."""
    released: int
    """1: a person has looked, and it is not held again."""


class Alike(SQLModel, table=True):
    """How many services of a site have addresses of one pattern, for the cap `max_alike_services`."""

    key: int = Field(primary_key=True)
    """64 bits of BLAKE2b over site and pattern."""
    services: int


class QueryGroup(SQLModel, table=True):
    """How many addresses were seen that differ only in their query, for the cap `max_queries_per_path`."""

    __tablename__ = "query_group"
    key: int = Field(primary_key=True)
    seen: int
