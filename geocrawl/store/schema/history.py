"""Define the tables of endpoints over time: probes, content checks, changes of health and of descriptions."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary
from sqlmodel import Field, SQLModel


class Probe(SQLModel, table=True):
    """One attempt to find out what an endpoint is, with its verdict."""

    __table_args__ = (Index("probe_endpoint", "endpoint_id", "at"),)
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    at: float
    status: str
    """valid or invalid"""
    reason: str
    """Code of the verdict; not-modified: the answer was 304, and the last description is still valid."""
    detail: str
    http_status: int | None = None
    content_type: str
    first_bytes: str
    """Beginning of the decisive answer."""
    elapsed_ms: float
    """Duration of the decisive request."""
    requests: int
    deviations: str
    """JSON list of {code, detail}."""


class Proof(SQLModel, table=True):
    """One request of an endpoint's last content check: for a map, a tile, a feature, a record."""

    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    position: int = Field(primary_key=True)
    layer: str
    """Name of the requested layer, feature type …"""
    crs: str
    outcome: str
    """ok, blank, exception, not-an-image, image-error-text, wrong-size, axis-order, timeout, http-error, refused"""
    elapsed_ms: float
    detail: str
    url: str
    zoom: int | None = None
    """Zoom level of a tile by its scale, 0: the world in one tile of Web Mercator; NULL: no such tile."""


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
    """Reason of the verdict that changed the health."""


class Change(SQLModel, table=True):
    """A difference between two descriptions of a service by the same endpoint."""

    __table_args__ = (Index("change_at", "at"), Index("change_service", "service_id", "at"))
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    service_id: int
    at: float
    what: str
    """layer-added, layer-removed, layer-title, layer-box, title, abstract, provider, contact, version, formats, fees,
    access_constraints, online_resource"""
    name: str
    """Name of the layer; '' when the service itself changed."""
    before: str
    after: str
