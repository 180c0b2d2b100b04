"""Define the read-only views for people and other software: stable names and columns over a schema that changes.

A view shows the masked address of an endpoint and never the full one, so that what is published from the views holds no
keys. Its times are text, `2024-05-17T09:30:00Z`. Columns are only added, at the end; a changed view needs a migration,
which drops the former one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class View(NamedTuple):
    """A view, with what its rows and columns mean."""

    rows: str
    """What one row is, as a sentence."""
    columns: Mapping[str, tuple[str, str]]
    """Name of the column → (its expression in SQL, its meaning)."""
    source: str
    """The part of the statement from FROM on."""


def _time(column: str) -> str:
    return f"strftime('%Y-%m-%dT%H:%M:%SZ', {column}, 'unixepoch')"


_LIST = "JSON list"
_OF_BEST = "of the best address"

VIEWS: Mapping[str, View] = {
    "v_services": View(
        "A service at its best address.",
        {
            "id": ("s.id", "number of the service, as `geocrawl show` takes it"),
            "kind": ("s.kind", "wms, wfs, wmts …"),
            "title": ("s.title", ""),
            "abstract": ("s.abstract", ""),
            "provider": ("s.provider", ""),
            "keywords": ("s.keywords", _LIST),
            "version": ("s.version", "version of the protocol"),
            "formats": ("s.formats", f"{_LIST} of media types"),
            "url": ("coalesce(e.masked_url, '')", "best address, keys masked as `***`"),
            "host": ("coalesce(e.host, '')", _OF_BEST),
            "site": ("coalesce(e.site, s.site)", "registered domain of the host"),
            "online_resource": ("s.masked_online_resource", "address by its own capabilities, keys masked"),
            "layers": ("s.layer_count", "number of named layers"),
            "alive": (
                "EXISTS (SELECT 1 FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid')",
                "1: valid at the last probe of any of its addresses",
            ),
            "health": ("coalesce(e.health, 'new')", f"new, alive, degraded, down, gone; {_OF_BEST}"),
            "level": (
                "coalesce((SELECT max(v.level) FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid'), '')",
                "advertised, answers, delivers; '' without a content check",
            ),
            "https": ("e.https", f"1: answers over HTTPS; NULL: unknown; {_OF_BEST}"),
            "cors": ("coalesce(e.cors, '')", f"Access-Control-Allow-Origin {_OF_BEST}"),
            "fees": ("s.fees", ""),
            "access_constraints": ("s.access_constraints", ""),
            "endpoints": ("(SELECT count(*) FROM endpoint v WHERE v.service_id = s.id)", "number of its addresses"),
            "deviations": (
                "(SELECT json_group_array(d.value ->> '$.code') FROM json_each(coalesce(e.deviations, '[]')) d)",
                f"{_LIST} of codes (docs/deviations.md), {_OF_BEST}",
            ),
            "west": ("s.west", "extent in degrees (WGS 84), like the next three; NULL: unknown"),
            "south": ("s.south", ""),
            "east": ("s.east", ""),
            "north": ("s.north", ""),
            "first_seen": (_time("s.first_seen"), ""),
            "last_ok": (_time("s.last_ok"), "last valid answer of any of its addresses"),
            "last_probe": (_time("e.last_probe"), _OF_BEST),
        },
        "FROM service s LEFT JOIN endpoint e ON e.id = coalesce(s.best_id, (SELECT v.id FROM endpoint v "
        "WHERE v.service_id = s.id ORDER BY v.status = 'valid' DESC, v.id LIMIT 1))",
    ),
    "v_layers": View(
        "A layer, or its counterpart in other kinds, with the properties that it states itself.",
        {
            "service_id": ("l.service_id", "id in `v_services`"),
            "position": ("l.position", "order in the document"),
            "parent": ("l.parent", "`position` of the group that contains it, whose properties it inherits"),
            "item": ("l.item", "layer, feature-type, coverage, collection …"),
            "name": ("l.name", "name for requests; '' for a group that cannot be requested"),
            "title": ("l.title", ""),
            "abstract": ("l.abstract", ""),
            "keywords": ("l.keywords", _LIST),
            "crs": ("l.crs", f"{_LIST} of reference systems"),
            "styles": ("l.styles", f"{_LIST} of names"),
            "formats": ("l.formats", f"{_LIST} of media types"),
            "queryable": ("l.queryable", "1: offers GetFeatureInfo"),
            "west": ("l.west", "extent in degrees (WGS 84), like the next three; NULL: inherited or unknown"),
            "south": ("l.south", ""),
            "east": ("l.east", ""),
            "north": ("l.north", ""),
            "kind": ("s.kind", "of its service"),
            "service": ("s.title", "title of its service"),
        },
        "FROM layer l JOIN service s ON s.id = l.service_id",
    ),
    "v_health": View(
        "An address that was probed, with its state.",
        {
            "endpoint_id": ("e.id", ""),
            "service_id": ("e.service_id", "id in `v_services`; NULL: it never was valid"),
            "kind": ("e.kind", ""),
            "url": ("e.masked_url", "keys masked as `***`"),
            "host": ("e.host", ""),
            "site": ("e.site", "registered domain of the host"),
            "status": ("e.status", "last verdict: valid or invalid"),
            "reason": ("e.reason", "code of the last verdict: ok, http-404, html, timeout-read …"),
            "http_status": ("e.http_status", ""),
            "health": ("e.health", "new, alive, degraded, down, gone: by all probes over time"),
            "health_since": (_time("e.health_since"), ""),
            "in_a_row": ("e.in_a_row", "valid answers in a row, or negative of failures"),
            "probes": ("e.probes", "number of probes"),
            "valid_share": (
                "(SELECT avg(p.status = 'valid') FROM probe p WHERE p.endpoint_id = e.id)",
                "share of valid answers, 0…1, among the probes that are kept",
            ),
            "mean_ms": (
                "(SELECT avg(p.elapsed_ms) FROM probe p WHERE p.endpoint_id = e.id AND p.status = 'valid' "
                "AND p.reason <> 'not-modified')",
                "mean time of valid answers, milliseconds",
            ),
            "level": ("coalesce(e.level, '')", "advertised, answers, delivers; '' without a content check"),
            "first_seen": (_time("e.first_seen"), ""),
            "last_probe": (_time("e.last_probe"), ""),
            "last_ok": (_time("e.last_ok"), "last valid answer; NULL: never"),
            "next_probe": (_time("e.due_at"), "NULL: none"),
        },
        "FROM endpoint e WHERE e.status IS NOT NULL AND (e.weak < 2 OR e.last_ok IS NOT NULL)",
    ),
}
"""Name → view."""


def view_sql(name: str) -> str:
    """Return the statement that creates the view of this name."""
    view = VIEWS[name]
    columns = ",\n".join(f"\t{expression} AS {column}" for column, (expression, _) in view.columns.items())
    return f"CREATE VIEW {name} AS SELECT\n{columns}\n{view.source}"
