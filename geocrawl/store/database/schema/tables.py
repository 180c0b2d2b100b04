"""Collect the classes of all tables, and provide these as SQLAlchemy's `Table` objects, for statements.

`ENDPOINT.c.url` is a column of the table `endpoint`.
"""

from __future__ import annotations

from sqlalchemy import column, table
from sqlmodel import SQLModel

from geocrawl.store.database.schema import TEXT_COLUMNS
from geocrawl.store.database.schema.bookkeeping import Counter, Daily, Meta, Notice, Run, Watch
from geocrawl.store.database.schema.catalogue import (
    Change,
    Description,
    Endpoint,
    Evidence,
    HealthEvent,
    Layer,
    Probe,
    Proof,
    SameService,
    SearchChange,
    SearchEntry,
    SearchList,
    Service,
    ServiceAlias,
    Thumbnail,
)
from geocrawl.store.database.schema.frontier import (
    Alike,
    Blocked,
    Host,
    IpPlace,
    Lesson,
    OutLinks,
    PageStore,
    Pattern,
    QueryGroup,
    Robots,
    Seed,
    Site,
    Source,
    SourceList,
    SourceRecord,
    SourceService,
    Url,
    Validator,
)

METADATA = SQLModel.metadata
"""All tables, for statements, new databases and the comparison with the migrations."""
MODELS: tuple[type[SQLModel], ...] = (
    *(Service, ServiceAlias, Layer, Endpoint, Evidence, Description, SameService),
    *(SearchEntry, SearchList, SearchChange),
    *(Probe, Proof, Thumbnail, HealthEvent, Change),
    *(Url, OutLinks, Validator, Host, IpPlace, Robots, Seed, Lesson, PageStore),
    *(Blocked, Pattern, Site, Alike, QueryGroup),
    *(Source, SourceList, SourceRecord, SourceService),
    *(Watch, Notice, Run, Daily, Counter, Meta),
)
"""All classes, in the order in which docs/database.md shows them."""

ALIKE = METADATA.tables["alike"]
BLOCKED = METADATA.tables["blocked"]
CHANGE = METADATA.tables["change"]
COUNTER = METADATA.tables["counter"]
DAILY = METADATA.tables["daily"]
DESCRIPTION = METADATA.tables["description"]
ENDPOINT = METADATA.tables["endpoint"]
EVIDENCE = METADATA.tables["evidence"]
HEALTH_EVENT = METADATA.tables["health_event"]
HOST = METADATA.tables["host"]
IP_PLACE = METADATA.tables["ip_place"]
LAYER = METADATA.tables["layer"]
LESSON = METADATA.tables["lesson"]
META = METADATA.tables["meta"]
NOTICE = METADATA.tables["notice"]
OUTLINKS = METADATA.tables["outlinks"]
PAGE_STORE = METADATA.tables["page_store"]
PATTERN = METADATA.tables["pattern"]
PROBE = METADATA.tables["probe"]
PROOF = METADATA.tables["proof"]
QUERY_GROUP = METADATA.tables["query_group"]
ROBOTS = METADATA.tables["robots"]
RUN = METADATA.tables["run"]
SAME_SERVICE = METADATA.tables["same_service"]
SEARCH_CHANGE = METADATA.tables["search_change"]
SEARCH_ENTRY = METADATA.tables["search_entry"]
SEARCH_LIST = METADATA.tables["search_list"]
SEED = METADATA.tables["seed"]
SERVICE = METADATA.tables["service"]
SERVICE_ALIAS = METADATA.tables["service_alias"]
SITE = METADATA.tables["site"]
SOURCE = METADATA.tables["source"]
SOURCE_LIST = METADATA.tables["source_list"]
SOURCE_RECORD = METADATA.tables["source_record"]
SOURCE_SERVICE = METADATA.tables["source_service"]
THUMBNAIL = METADATA.tables["thumbnail"]
URL = METADATA.tables["url"]
VALIDATOR = METADATA.tables["validator"]
WATCH = METADATA.tables["watch"]

SEARCH_TEXT = table("search_text", *(column(name) for name in ("rowid", *TEXT_COLUMNS)))
"""Full-text index (SQLite's FTS5) of services: a virtual table, `rowid` is the service's id."""
