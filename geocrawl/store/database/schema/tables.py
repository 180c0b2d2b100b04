"""Provide the tables for statements: `ENDPOINT.c.url` is a column of the table `endpoint`.

`make schema` writes the lines below the mark from the classes (`models.py`), which say more: defaults, indexes, what
refers to what. A command that reads a database that exists does without them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, MetaData, String, Table, column, table
from sqlalchemy.types import TypeEngine

from geocrawl.store.database.schema import TEXT_COLUMNS

HASH = BigInteger().with_variant(Integer(), "sqlite")
"""A signed 64-bit hash (`keys.py`). SQLite's INTEGER has 64 bits, and only a primary key declared as INTEGER
is the row's own number; other engines need BIGINT.
"""
_TYPES: dict[str, TypeEngine[Any]] = {
    "integer": Integer(),
    "real": Float(),
    "text": String(),
    "hash": HASH,
    "bytes": LargeBinary(),
}
"""Words for the types of columns."""
_TABLES = MetaData()


def _table(name: str, columns: str) -> Table:
    """Return a table with these columns, each a name with the word of its type: `*` marks the key, `?` may be NULL."""
    made = Table(name, _TABLES)
    for each, word in map(str.split, columns.split(", ")):
        kind = _TYPES[word.rstrip("?")]
        made.append_column(Column(each.rstrip("*"), kind, primary_key="*" in each, nullable="?" in word))
    return made


SEARCH_TEXT = table("search_text", *(column(name) for name in ("rowid", *TEXT_COLUMNS)))
"""Full-text index (SQLite's FTS5) of services: a virtual table, `rowid` is the service's id."""

# Written by `make schema` from here on.
ALIKE = _table("alike", "key* hash, services integer")
BLOCKED = _table("blocked", "host* text, reason text, at real")
CHANGE = _table(
    "change",
    "id* integer, endpoint_id integer, service_id integer, at real, what text, name text, before text, after text",
)
COUNTER = _table("counter", "name* text, value integer")
DAILY = _table("daily", "day* text, name* text, value integer")
DESCRIPTION = _table(
    "description",
    "endpoint_id* integer, key text, kind text, family text, fingerprint text, items text, telling integer, "
    "calls_itself text, provider text",
)
DOWNTIME = _table(
    "downtime",
    "id* integer, service_id integer?, host text, starts_at real, ends_at real?, weekly text, zone text, "
    "is_acknowledged integer, note text, created_at real",
)
ENDPOINT = _table(
    "endpoint",
    "id* integer, kind text, key text, url text, host text, site text, weak integer, service_id integer?, status "
    "text?, reason text?, detail text?, version text?, deviations text?, http_status integer?, first_seen real, "
    "last_probe real?, last_ok real?, probes integer, level text?, proved_at real?, https integer?, cors text?, "
    "health text, health_since real?, in_a_row integer, interval_s real, due_at real?, masked_url text, failing_s "
    "real, woken_at real?, moved_to text?, server hash?, every_s real?, whole_at real?, usual_ms real?, speed integer",
)
EVIDENCE = _table(
    "evidence",
    "id* integer, endpoint_id integer, signal text, page text, link text, anchor text, at real, masked_page text?, "
    "time_start real?, time_end real?",
)
HEALTH_EVENT = _table("health_event", "id* integer, endpoint_id integer, at real, before text, after text, reason text")
HOST = _table(
    "host",
    "id* integer, name text, next_at real, errors integer, last_error_at real, crawl_delay_s real?, parked integer, "
    "waiting integer, best_tier integer, best_score real, turn integer, pages integer, lease_until real, lease_token "
    "integer, lease_url integer?, lease_owner text?, asked_day integer, asked integer, troubled_at real, "
    "troubled_address text, refusals integer",
)
IP_PLACE = _table("ip_place", "ip* text, slot* integer, begins_at real, until real, owner text")
LAYER = _table(
    "layer",
    "service_id* integer, position* integer, parent integer?, name text, title text, abstract text, crs text, styles "
    "text, keywords text, queryable integer, west real?, south real?, east real?, north real?, item text, formats "
    "text, time_start real?, time_end real?, time_step text, min_scale real?, max_scale real?, fields text, licence "
    "text, language text",
)
LESSON = _table(
    "lesson",
    "number* integer, url_id integer, purpose text, depth integer, found_on integer?, state text, reason text, valid "
    "integer?, links bytes, memo bytes",
)
META = _table("meta", "name* text, value bytes")
NOTICE = _table(
    "notice", "id* integer, watch_id integer, at real, what text, service_id integer, detail text, sent_at real?"
)
OUTLINKS = _table("outlinks", "url_id* integer, links bytes, moved integer")
PAGE_STORE = _table(
    "page_store", "url_id* integer, score real, stored_at real, encoding text, size_bytes integer, body bytes"
)
PATTERN = _table("pattern", "key* hash, fruitless integer, finds integer, last_relevance integer, late integer")
PROBE = _table(
    "probe",
    "id* integer, endpoint_id integer, at real, status text, reason text, detail text, http_status integer?, "
    "content_type text, first_bytes text, elapsed_ms real, requests integer, deviations text",
)
PROBE_SUM = _table(
    "probe_sum",
    "endpoint_id* integer, start* real, first_at real, last_at real, is_last_valid integer, probes integer, valid "
    "integer, known_s real, up_s real, refused integer, unconfirmed integer, timed integer, total_ms real, times "
    "text, is_last_excused integer",
)
PROOF = _table(
    "proof",
    "endpoint_id* integer, position* integer, layer text, crs text, outcome text, elapsed_ms real, detail text, url "
    "text, zoom integer?",
)
QUERY_GROUP = _table("query_group", "key* hash, seen integer")
ROBOTS = _table("robots", "origin* text, status integer?, body text?, fetched_at real, expires_at real")
RUN = _table(
    "run",
    "id* integer, started_at real, ended_at real?, owner text, strategy text, settings text, pages integer?, services "
    "integer?, stopped text?",
)
SAME_SERVICE = _table(
    "same_service", "first_id* integer, second_id* integer, signal* text, detail text, same integer, at real"
)
SEARCH_CHANGE = _table("search_change", "seq* integer, service_id integer")
SEARCH_ENTRY = _table(
    "search_entry",
    "service_id* integer, systems integer, formats integer, country text, title_words integer, words integer, "
    "completeness integer, evidence integer, fields integer",
)
SEARCH_LIST = _table("search_list", "id* integer, digest text, items text")
SEED = _table(
    "seed", "identity* text, address text, title text, region text, language text, source text, added_at real"
)
SERVICE = _table(
    "service",
    "id* integer, kind text, fingerprint text, site text, title text, abstract text, keywords text, provider text, "
    "contact text, fees text, access_constraints text, version text, formats text, online_resource text, layer_count "
    "integer, west real?, south real?, east real?, north real?, first_seen real, last_ok real, best_id integer?, "
    "masked_online_resource text, read_by text, licence text, time_start real?, time_end real?, language text",
)
SERVICE_ALIAS = _table("service_alias", "old* integer, new integer, endpoint_id integer?")
SITE = _table("site", "name* text, hosts integer, held_at real?, held_for text, released integer")
SOURCE = _table(
    "source",
    "id* integer, key hash, address text, family text, stated integer?, read integer, state text, reason text, window "
    "integer?, harvest integer, at real, named integer",
)
SOURCE_LIST = _table(
    "source_list",
    "id* integer, source_id integer, key hash, address text, slice text, next_key hash?, stated integer?, read "
    "integer, digest hash?, reason text",
)
SOURCE_RECORD = _table("source_record", "source_id* integer, key* hash")
SOURCE_SERVICE = _table("source_service", "source_id* integer, endpoint_id* integer, is_new integer")
THUMBNAIL = _table("thumbnail", "endpoint_id* integer, at real, image bytes")
URL = _table(
    "url",
    "id* integer, key hash, address text, purpose text, host_id integer, state text, reason text?, depth integer, "
    "tier integer, score real, found_on integer?, anchor text?, found_in text?, hops integer, attempts integer, "
    "endpoint_id integer?, retry_at real?, first_seen real, settled_at real?, http_status integer?, content_type "
    "text?, size_bytes integer?, elapsed_ms real?, title text?, relevance integer?, page_score real?, digest hash?, "
    "changes integer, revisit_s real?, revisit_at real?, kills integer, sub_queue integer?, visit_tier integer?, led "
    "integer?",
)
VALIDATOR = _table("validator", "url_id* integer, address text, etag text, modified text, read_at real")
WATCH = _table(
    "watch",
    "id* integer, service_id integer?, query text, recipient text, secret text, created_at real, known text, "
    "change_id integer, sent_at real?, failures integer, retry_at real, busy_until real, last_error text, every_s "
    "real?",
)
