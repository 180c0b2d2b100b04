"""Services over time: each probe, what was seen of their content, their health and their changes."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary
from sqlmodel import Field, SQLModel


class Probe(SQLModel, table=True):
    """One attempt to find out what an endpoint is."""

    __table_args__ = (Index("probe_endpoint", "endpoint_id", "at"),)
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    at: float
    status: str
    reason: str
    detail: str
    http_status: int | None = None
    content_type: str
    first_bytes: str
    elapsed_ms: float
    requests: int
    deviations: str


class Proof(SQLModel, table=True):
    """One request for content at the last proof: a map, a tile, a feature, a record."""

    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    position: int = Field(primary_key=True)
    layer: str
    """Name of the item asked for."""
    crs: str
    outcome: str
    """ok, blank, exception, not-an-image, image-error-text, wrong-size, axis-order, timeout, http-error, refused"""
    elapsed_ms: float
    detail: str
    url: str


class Thumbnail(SQLModel, table=True):
    """A small PNG of the first content that an endpoint delivered."""

    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    at: float
    image: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class HealthEvent(SQLModel, table=True):
    """A change of an endpoint's health."""

    __tablename__ = "health_event"
    __table_args__ = (Index("health_event_endpoint", "endpoint_id", "at"), Index("health_event_at", "at"))
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    at: float
    before: str
    after: str
    reason: str
    """Of the verdict."""


class Change(SQLModel, table=True):
    """What differs between two descriptions of a service, as one endpoint gave them."""

    __table_args__ = (Index("change_at", "at"), Index("change_service", "service_id", "at"))
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    service_id: int
    at: float
    what: str
    """layer-added, layer-removed, layer-title, layer-box, title, abstract, provider, contact, version, formats, fees,
    access_constraints, online_resource"""
    name: str
    """Of the layer; '' when the service itself changed."""
    before: str
    after: str
