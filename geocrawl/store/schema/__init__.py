"""The schema, for people who query the database. Migrations make it (`migrations/`); a test holds the two together.

Times are seconds since 1970 UTC (`datetime(settled_at, 'unixepoch')` in SQL), durations have their unit in the name,
lists and mappings are JSON, flags are 0 and 1, boxes are WGS 84 degrees. NULL means unknown or not yet.

`frontier` holds addresses and hosts, `bounds` what limits a crawl, `services` the catalogue, `watch` services over
time, `whole` the rest. Nothing at run time imports this folder (SQLModel takes 0.4 s): a crawl uses the statements in
`statements.py`.
"""

from __future__ import annotations

from geocrawl.store.schema.bounds import Alike, Blocked, Pattern, QueryGroup, Site
from geocrawl.store.schema.frontier import Host, Lesson, OutLinks, PageStore, Robots, Seed, Url, Validator
from geocrawl.store.schema.services import Description, Endpoint, Evidence, Layer, SameService, Service
from geocrawl.store.schema.watch import Change, HealthEvent, Probe, Proof, Thumbnail
from geocrawl.store.schema.whole import Counter, Daily, Meta, Run

__all__ = [
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
    "Layer",
    "Lesson",
    "Meta",
    "OutLinks",
    "PageStore",
    "Pattern",
    "Probe",
    "Proof",
    "QueryGroup",
    "Robots",
    "Run",
    "SameService",
    "Seed",
    "Service",
    "Site",
    "Thumbnail",
    "Url",
    "Validator",
]
