"""Read what is new in the catalogue, by service: services found, dead or back, descriptions that changed."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection


@dataclass(frozen=True, slots=True)
class NewsRow:
    """Something that happened to a service."""

    service_id: int
    kind: str
    title: str
    url: str
    """The service's best address, with the secrets in it."""
    at: float
    what: str
    """health, or what changed: layer-added, layer-removed, title …"""
    name: str
    """Name of the layer that changed; of a change of health its reason."""
    before: str
    after: str
    number: int
    """Number of the row in its table: with `what` and the time it identifies the news."""


_NEWS = """
SELECT s.id, s.kind, s.title, coalesce(best.url, own.url), n.at, n.what, n.name, n."before", n."after", n.id FROM (
  SELECT * FROM (SELECT id, endpoint_id, at, 'health' AS what, reason AS name, "before", "after" FROM health_event
                 {events} ORDER BY at DESC, id DESC LIMIT :most) events
  UNION ALL
  SELECT * FROM (SELECT id, endpoint_id, at, what, name, "before", "after" FROM change
                 {changes} ORDER BY at DESC, id DESC LIMIT :most) changes) n
JOIN endpoint own ON own.id = n.endpoint_id JOIN service s ON s.id = own.service_id
LEFT JOIN endpoint best ON best.id = s.best_id
ORDER BY n.at DESC, n.what, n.id DESC LIMIT :most"""
_LATEST = _NEWS.format(events="", changes="")
_OF_SERVICE = _NEWS.format(
    events="WHERE endpoint_id IN (SELECT id FROM endpoint WHERE service_id = :service)",
    changes="WHERE endpoint_id IN (SELECT id FROM endpoint WHERE service_id = :service)",
)


def read_news(connection: Connection, most: int, service_id: int | None = None) -> list[NewsRow]:
    """Return the latest news, at most `most`, newest first: of all services, or of one."""
    values = {"most": most}
    if service_id is None:
        return [NewsRow(*row) for row in connection.execute(_LATEST, values)]
    return [NewsRow(*row) for row in connection.execute(_OF_SERVICE, values | {"service": service_id})]
