"""Collect the classes of all tables, for new databases and whatever else goes through the whole schema.

Statements take their tables from `tables.py`: the import of SQLModel and of the classes costs a command a quarter of a
second.
"""

from __future__ import annotations

from sqlmodel import SQLModel

from geocrawl.store.database.schema.bookkeeping import Counter, Daily, Downtime, Meta, Notice, Run, Watch
from geocrawl.store.database.schema.catalogue import (
    Change,
    Description,
    Endpoint,
    Evidence,
    HealthEvent,
    Layer,
    Probe,
    ProbeSum,
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
"""All tables, for new databases and the comparison with the migrations."""
MODELS: tuple[type[SQLModel], ...] = (
    *(Service, ServiceAlias, Layer, Endpoint, Evidence, Description, SameService),
    *(SearchEntry, SearchList, SearchChange),
    *(Probe, ProbeSum, Proof, Thumbnail, HealthEvent, Change),
    *(Url, OutLinks, Validator, Host, IpPlace, Robots, Seed, Lesson, PageStore),
    *(Blocked, Pattern, Site, Alike, QueryGroup),
    *(Source, SourceList, SourceRecord, SourceService),
    *(Watch, Downtime, Notice, Run, Daily, Counter, Meta),
)
"""All classes, in the order in which docs/database.md shows them."""
