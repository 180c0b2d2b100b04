"""Add masked addresses beside the full ones, mask keys in running texts, and add the views that publish them."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, String

from geocrawl.sanitize import masked

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_ROWS_AT_ONCE = 5_000
_TEXTS = {
    "service": ("title", "abstract", "provider", "keywords", "fees", "access_constraints"),
    "layer": ("title", "abstract", "keywords"),
}


def upgrade() -> None:
    op.add_column("service", Column("masked_online_resource", String, nullable=False, server_default=sa.text("''")))
    op.add_column("endpoint", Column("masked_url", String, nullable=False, server_default=sa.text("''")))
    op.execute("UPDATE service SET masked_online_resource = online_resource")
    op.execute("UPDATE endpoint SET masked_url = url")
    _mask("service", "masked_online_resource")
    _mask("endpoint", "masked_url")
    for table, columns in _TEXTS.items():
        for column in columns:
            _mask(table, column)
    for statement in _VIEWS:
        op.get_bind().exec_driver_sql(statement)


def _mask(table: str, column: str) -> None:
    """Mask the secrets in a column's addresses."""
    update = sa.text(f"UPDATE {table} SET {column} = :text WHERE rowid = :row")  # noqa: S608 our own names
    for changed in _masked(table, column):
        op.get_bind().execute(update, changed)


def _masked(table: str, column: str) -> Iterator[list[dict[str, object]]]:
    """Yield lists of rows whose text has secrets, with the masked text."""
    may_have = " OR ".join(f"instr({column}, '{sign}')" for sign in "=%@")
    query = f"SELECT rowid, {column} FROM {table} WHERE rowid > :after AND ({may_have}) ORDER BY rowid LIMIT :most"  # noqa: S608
    after = -1
    while rows := op.get_bind().execute(sa.text(query), {"after": after, "most": _ROWS_AT_ONCE}).fetchall():
        after = rows[-1][0]
        if changed := [{"row": row, "text": masked(text)} for row, text in rows if masked(text) != text]:
            yield changed


_VIEWS = (
    """
CREATE VIEW v_services AS SELECT
    s.id AS id,
    s.kind AS kind,
    s.title AS title,
    s.abstract AS abstract,
    s.provider AS provider,
    s.keywords AS keywords,
    s.version AS version,
    s.formats AS formats,
    coalesce(e.masked_url, '') AS url,
    coalesce(e.host, '') AS host,
    coalesce(e.site, s.site) AS site,
    s.masked_online_resource AS online_resource,
    s.layer_count AS layers,
    EXISTS (SELECT 1 FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid') AS alive,
    coalesce(e.health, 'new') AS health,
    coalesce((SELECT max(v.level) FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid'), '') AS level,
    e.https AS https,
    coalesce(e.cors, '') AS cors,
    s.fees AS fees,
    s.access_constraints AS access_constraints,
    (SELECT count(*) FROM endpoint v WHERE v.service_id = s.id) AS endpoints,
    (SELECT json_group_array(d.value ->> '$.code') FROM json_each(coalesce(e.deviations, '[]')) d) AS deviations,
    s.west AS west,
    s.south AS south,
    s.east AS east,
    s.north AS north,
    strftime('%Y-%m-%dT%H:%M:%SZ', s.first_seen, 'unixepoch') AS first_seen,
    strftime('%Y-%m-%dT%H:%M:%SZ', s.last_ok, 'unixepoch') AS last_ok,
    strftime('%Y-%m-%dT%H:%M:%SZ', e.last_probe, 'unixepoch') AS last_probe
FROM service s LEFT JOIN endpoint e ON e.id = coalesce(s.best_id, (SELECT v.id FROM endpoint v WHERE
        v.service_id = s.id ORDER BY v.status = 'valid' DESC, v.id LIMIT 1))
""",
    """
CREATE VIEW v_layers AS SELECT
    l.service_id AS service_id,
    l.position AS position,
    l.parent AS parent,
    l.item AS item,
    l.name AS name,
    l.title AS title,
    l.abstract AS abstract,
    l.keywords AS keywords,
    l.crs AS crs,
    l.styles AS styles,
    l.formats AS formats,
    l.queryable AS queryable,
    l.west AS west,
    l.south AS south,
    l.east AS east,
    l.north AS north,
    s.kind AS kind,
    s.title AS service
FROM layer l JOIN service s ON s.id = l.service_id
""",
    """
CREATE VIEW v_health AS SELECT
    e.id AS endpoint_id,
    e.service_id AS service_id,
    e.kind AS kind,
    e.masked_url AS url,
    e.host AS host,
    e.site AS site,
    e.status AS status,
    e.reason AS reason,
    e.http_status AS http_status,
    e.health AS health,
    strftime('%Y-%m-%dT%H:%M:%SZ', e.health_since, 'unixepoch') AS health_since,
    e.in_a_row AS in_a_row,
    e.probes AS probes,
    (SELECT avg(p.status = 'valid') FROM probe p WHERE p.endpoint_id = e.id) AS valid_share,
    (SELECT avg(p.elapsed_ms) FROM probe p WHERE p.endpoint_id = e.id AND p.status = 'valid' AND p.reason <>
        'not-modified') AS mean_ms,
    coalesce(e.level, '') AS level,
    strftime('%Y-%m-%dT%H:%M:%SZ', e.first_seen, 'unixepoch') AS first_seen,
    strftime('%Y-%m-%dT%H:%M:%SZ', e.last_probe, 'unixepoch') AS last_probe,
    strftime('%Y-%m-%dT%H:%M:%SZ', e.last_ok, 'unixepoch') AS last_ok,
    strftime('%Y-%m-%dT%H:%M:%SZ', e.due_at, 'unixepoch') AS next_probe
FROM endpoint e WHERE e.status IS NOT NULL AND (e.weak < 2 OR e.last_ok IS NOT NULL)
""",
)
