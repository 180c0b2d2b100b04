"""Define the tables of watches: who is told of what, and what they were told."""

from __future__ import annotations

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from geocrawl.store.schema.columns import starting_with


class Watch(SQLModel, table=True):
    """A service or a saved search, and who is told when it changes (`geocrawl watch`)."""

    id: int = Field(primary_key=True)
    service_id: int | None = None
    """The service; NULL for a saved search."""
    query: str
    """The saved search; '' for a service."""
    recipient: str
    """Web address, `mail:ADDRESS` or `file:PATH`."""
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
