"""Define the schema: every table of the database, with the meaning of its columns.

Times are seconds since 1970 UTC (`datetime(settled_at, 'unixepoch')` in SQL), durations have their unit in the name,
lists and mappings are JSON, flags are 0 and 1, boxes are WGS 84 degrees. NULL means unknown or not yet.

A class has the name of its table. Statements of the catalogue use the `Table` objects of `tables.py`. `migrations/`
upgrades older databases to this schema (`make schema-check` compares the two). From the classes, `make schema` writes
`schema.sql`, which creates a new database, and the tables' part of docs/database.md. Importing the classes takes 0.4 s
(SQLModel), so no module that `geocrawl status` needs imports them.
"""

from __future__ import annotations

from sqlmodel import SQLModel

from geocrawl.store.schema.bookkeeping import Counter, Daily, Meta, Run
from geocrawl.store.schema.frontier import Host, IpPlace, Lesson, OutLinks, PageStore, Robots, Seed, Url, Validator
from geocrawl.store.schema.history import Change, HealthEvent, Probe, Proof, Thumbnail
from geocrawl.store.schema.limits import Alike, Blocked, Pattern, QueryGroup, Site
from geocrawl.store.schema.search import SearchChange, SearchEntry, SearchList
from geocrawl.store.schema.services import Description, Endpoint, Evidence, Layer, SameService, Service
from geocrawl.store.schema.watches import Notice, Watch

METADATA = SQLModel.metadata
"""All tables, for statements, `schema.sql` and the comparison with the migrations."""

MODELS: tuple[type[SQLModel], ...] = (
    *(Service, Layer, Endpoint, Evidence, Description, SameService),
    *(SearchEntry, SearchList, SearchChange),
    *(Probe, Proof, Thumbnail, HealthEvent, Change),
    *(Url, OutLinks, Validator, Host, IpPlace, Robots, Seed, Lesson, PageStore),
    *(Blocked, Pattern, Site, Alike, QueryGroup),
    *(Watch, Notice),
    *(Run, Daily, Counter, Meta),
)
"""All classes, in the order in which docs/database.md shows them."""

__all__ = [
    "METADATA",
    "MODELS",
    "Alike",
    "Blocked",
    "Change",
    "Counter",
    "Daily",
    "Description",
    "Endpoint",
    "Evidence",
    "HealthEvent",
    "Host",
    "IpPlace",
    "Layer",
    "Lesson",
    "Meta",
    "Notice",
    "OutLinks",
    "PageStore",
    "Pattern",
    "Probe",
    "Proof",
    "QueryGroup",
    "Robots",
    "Run",
    "SameService",
    "SearchChange",
    "SearchEntry",
    "SearchList",
    "Seed",
    "Service",
    "Site",
    "Thumbnail",
    "Url",
    "Validator",
    "Watch",
]
