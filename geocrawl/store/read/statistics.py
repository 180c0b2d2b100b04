"""Count over the whole catalogue: growth, software, versions, deviations, kinds, and what happened in a month."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from geocrawl.model.published import ReportRow
from geocrawl.store.engine.connection import Connection

SOFTWARE = {
    "GeoServer": ("%/geoserver/%", "%/geowebcache/%"),
    "ArcGIS Server": ("%/arcgis/%", "%/mapserver/wmsserver%", "%/rest/services/%", "%/wmsserver%"),
    "QGIS Server": ("%qgis_mapserv%", "%/qgis%", "%lizmap%"),
    "MapServer": ("%mapserv%",),
    "MapProxy": ("%/mapproxy%",),
    "MapCache": ("%/mapcache%",),
    "deegree": ("%deegree%",),
    "SuperMap iServer": ("%/iserver/%",),
    "MapGIS IGServer": ("%/igs/rest/%",),
    "THREDDS": ("%/thredds/%",),
    "GeoNetwork": ("%/geonetwork/%",),
    "ERDAS Apollo": ("%erdas-iws%",),
    "pygeoapi": ("%pygeoapi%",),
    "ldproxy": ("%ldproxy%",),
}
"""Server software → patterns (SQL LIKE) of its usual addresses, the first that fits counts. An address may hide its
software, so that these are lower bounds."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over the whole catalogue."""

    software: tuple[tuple[str, int], ...]
    """(server software by the address, services), the commonest first; '' for addresses that do not show it."""
    software_versions: tuple[tuple[str, str, int], ...]
    """(server software, its version, services), the commonest first: of ArcGIS Server alone, whose services say it."""
    versions: tuple[tuple[str, str, int], ...]
    """(kind, version of the protocol, services), the commonest first."""
    deviations: tuple[tuple[str, int], ...]
    """(code, endpoints valid at the last probe), the commonest first."""
    health: tuple[tuple[str, int], ...]
    """(health of the best address, services)."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How many services were known over time."""

    start: float
    end: float
    known: tuple[int, ...]
    """Services known at the end of each of equally long parts of that time."""


@dataclass(frozen=True, slots=True)
class SoftwareGrowth:
    """How many services of each server software were known over time."""

    start: float
    """Time at which the first service was found, seconds since 1970 UTC."""
    end: float
    """Time at which the last service was found, seconds since 1970 UTC."""
    known: tuple[tuple[str, tuple[int, ...]], ...]
    """(server software by the address, services known at the start and at the end of each part of that time), the
    commonest first; '' for addresses that do not show it."""


_CASES = "\n".join(
    f"WHEN {' OR '.join(f'u LIKE {pattern!r}' for pattern in patterns)} THEN {name!r}"
    for name, patterns in SOFTWARE.items()
)
_OF_SOFTWARE = f"CASE {_CASES} ELSE '' END"
_SOFTWARE = f"""
SELECT {_OF_SOFTWARE} AS software, count(*)
FROM (SELECT e.key AS u FROM service s JOIN endpoint e ON e.id = s.best_id) best GROUP BY 1 ORDER BY 2 DESC, 1"""  # noqa: S608  # constants
_VERSIONS = "SELECT kind, version, count(*) FROM service GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 30"
_DEVIATIONS = """
SELECT json_extract(one.value, '$.code'), count(*) FROM endpoint, json_each(endpoint.deviations) one
WHERE status = 'valid' AND deviations <> '[]' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30"""
_HEALTH = """
SELECT coalesce(e.health, 'new'), count(*) FROM service s LEFT JOIN endpoint e ON e.id = s.best_id
GROUP BY 1 ORDER BY 2 DESC, 1"""
_BOUNDS = "SELECT min(first_seen), max(first_seen) FROM service"
_SOFTWARE_VERSIONS = """
SELECT version, count(*) FROM service WHERE kind = 'arcgis' AND version <> '' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30"""
_SOFTWARE_ARRIVALS = f"""
SELECT {_OF_SOFTWARE} AS software, min(CAST((at - ?1) / ?2 AS INTEGER), ?3) AS part, count(*)
FROM (SELECT e.key AS u, s.first_seen AS at FROM service s JOIN endpoint e ON e.id = s.best_id) best
GROUP BY 1, 2"""  # noqa: S608  # constants
_ARRIVALS = "SELECT min(CAST((first_seen - ?) / ? AS INTEGER), ?), count(*) FROM service GROUP BY 1"


def read_statistics(connection: Connection) -> Statistics:
    """Return the counts; it reads every service once."""
    return Statistics(
        software=tuple(connection.execute(_SOFTWARE).fetchall()),
        software_versions=tuple(("ArcGIS Server", *row) for row in connection.execute(_SOFTWARE_VERSIONS)),
        versions=tuple(connection.execute(_VERSIONS).fetchall()),
        deviations=tuple(connection.execute(_DEVIATIONS).fetchall()),
        health=tuple(connection.execute(_HEALTH).fetchall()),
    )


def read_growth(connection: Connection, parts: int) -> Growth | None:
    """Return the number of known services over time in `parts` equal parts; None for an empty catalogue."""
    start, end = connection.execute(_BOUNDS).fetchone()
    if start is None:
        return None
    width = max((end - start) / parts, 1e-9)
    arrived = dict(connection.execute(_ARRIVALS, (start, width, parts - 1)).fetchall())
    return Growth(start, end, tuple(accumulate(arrived.get(part, 0) for part in range(parts))))


def read_software_growth(connection: Connection, parts: int) -> SoftwareGrowth | None:
    """Return the number of known services of each server software over time in `parts` equal parts; None for an empty
    catalogue."""
    start, end = connection.execute(_BOUNDS).fetchone()
    if start is None:
        return None
    width = max((end - start) / parts, 1e-9)
    arrived = dict[str, dict[int, int]]()
    for software, part, count in connection.execute(_SOFTWARE_ARRIVALS, (start, width, parts - 1)):
        arrived.setdefault(software, {})[part] = count
    known = [
        (software, (0, *accumulate(counts.get(part, 0) for part in range(parts))))
        for software, counts in arrived.items()
    ]
    return SoftwareGrowth(start, end, tuple(sorted(known, key=lambda each: (-each[1][-1], each[0]))))


_NUMBERS = "SELECT id, last_ok FROM service WHERE id > ? ORDER BY id LIMIT ?"


def service_numbers(connection: Connection, after: int, most: int) -> list[tuple[int, float]]:
    """Return (id, time of the last valid answer) of the services after this id, at most `most`."""
    return connection.execute(_NUMBERS, (after, most)).fetchall()


def last_service_number(connection: Connection) -> int:
    """Return the highest id of a service; 0 for an empty catalogue."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM service").fetchone()[0])


# --------------------------------------------------------------------------- kinds


@dataclass(frozen=True, slots=True)
class KindCount:
    """The services of one kind."""

    kind: str
    services: int
    alive: int
    """Valid at their last probe, at one of their endpoints at least."""
    delivers: int
    """Number of the kind's services that delivered content."""
    layers: int
    """Named layers."""


_COUNTS = """
SELECT kind, count(*), count(level), count(CASE WHEN level = 'delivers' THEN 1 END), sum(layer_count)
FROM (SELECT s.kind, s.layer_count,
        (SELECT max(coalesce(e.level, '')) FROM endpoint e WHERE e.service_id = s.id AND e.status = 'valid') AS level
      FROM service s) kinds
GROUP BY kind ORDER BY 2 DESC, 1"""


def kind_counts(connection: Connection) -> list[KindCount]:
    """Return the counts of each kind, the commonest first."""
    return [KindCount(*row) for row in connection.execute(_COUNTS)]


# --------------------------------------------------------------------------- a month

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
