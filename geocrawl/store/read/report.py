"""Read what happened to services in a month: `geocrawl report`."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.model.report import ReportRow
from geocrawl.store.engine.connection import Connection

_PROBES = """(SELECT count(*) FROM probe p JOIN endpoint e ON e.id = p.endpoint_id
WHERE e.service_id = v.id AND p.at >= :start AND p.at < :end"""
_EVENT = """(SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(h.at), 'unixepoch') FROM health_event h
JOIN endpoint e ON e.id = h.endpoint_id WHERE e.service_id = v.id AND h.at >= :start AND h.at < :end"""
_CHANGES = "(SELECT count(*) FROM change c WHERE c.service_id = v.id AND c.at >= :start AND c.at < :end AND c.what ="
_ROWS = f"""SELECT v.id, v.kind, v.title, v.provider, v.url, v.health,
(SELECT s.first_seen >= :start AND s.first_seen < :end FROM service s WHERE s.id = v.id) AS is_new,
{_PROBES}) AS probes, {_PROBES} AND p.status = 'valid') AS valid,
{_EVENT} AND h.after = 'down') AS went_down,
{_EVENT} AND h.before IN ('down', 'gone') AND h.after IN ('degraded', 'alive')) AS came_back,
{_CHANGES} 'layer-added') AS layers_added, {_CHANGES} 'layer-removed') AS layers_removed
FROM v_services v ORDER BY v.id"""  # noqa: S608 our own words


def month_report(connection: Connection, start: float, end: float) -> Iterator[ReportRow]:
    """Yield each service that was found, probed or changed between two times, by its number; one is read at a time."""
    for row in connection.execute(_ROWS, {"start": start, "end": end}).dicts():
        found = ReportRow(**row | {"is_new": bool(row["is_new"])})
        changed = found.went_down or found.came_back or found.layers_added or found.layers_removed
        if found.is_new or found.probes or changed:
            yield found
