"""Provide the tables of the catalogue as SQLAlchemy's `Table` objects, for its statements.

`ENDPOINT.c.url` is a column of the table `endpoint`. The frontier's statements are plain SQL
(`frontier/statements.py`).
"""

from __future__ import annotations

from sqlalchemy import column, table

from geocrawl.store.schema import METADATA
from geocrawl.store.search.columns import TEXT_COLUMNS

CHANGE = METADATA.tables["change"]
DESCRIPTION = METADATA.tables["description"]
ENDPOINT = METADATA.tables["endpoint"]
EVIDENCE = METADATA.tables["evidence"]
HEALTH_EVENT = METADATA.tables["health_event"]
HOST = METADATA.tables["host"]
LAYER = METADATA.tables["layer"]
PROBE = METADATA.tables["probe"]
PROOF = METADATA.tables["proof"]
SAME_SERVICE = METADATA.tables["same_service"]
SEARCH_CHANGE = METADATA.tables["search_change"]
SEARCH_ENTRY = METADATA.tables["search_entry"]
SEARCH_LIST = METADATA.tables["search_list"]
SEED = METADATA.tables["seed"]
SERVICE = METADATA.tables["service"]
THUMBNAIL = METADATA.tables["thumbnail"]
URL = METADATA.tables["url"]

SEARCH_TEXT = table("search_text", *(column(name) for name in ("rowid", *TEXT_COLUMNS)))
"""Full-text index (SQLite's FTS5) of services: a virtual table, `rowid` is the service's id."""
