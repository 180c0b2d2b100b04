"""The domain's words: frozen values that pass between rooms, with no behaviour beyond their own invariants.

One meaning each, everywhere: code, database, command line and docs (see docs/words.md). Times are seconds
since the Unix epoch, UTC, as floats; durations carry their unit in the name (`_s`, `_ms`).
"""

from geocrawl.model.documents import Document, Judgement
from geocrawl.model.frontier import Entry, FrontierStats, Lease, Lesson, RankedLink, Settled, State, StoredPage, Visit
from geocrawl.model.services import (
    Attempt,
    Candidate,
    Deviation,
    Endpoint,
    Evidence,
    Item,
    Kind,
    Layer,
    Level,
    Outcome,
    Proof,
    Service,
    Status,
    Verdict,
)
from geocrawl.model.web import (
    ADDRESS_ONLY,
    SCRIPT_SRC,
    Failure,
    FailureCode,
    HostState,
    Link,
    Page,
    Purpose,
    Rank,
    Relevance,
    RobotsRecord,
    Url,
)

__all__ = [
    "ADDRESS_ONLY",
    "SCRIPT_SRC",
    "Attempt",
    "Candidate",
    "Deviation",
    "Document",
    "Endpoint",
    "Entry",
    "Evidence",
    "Failure",
    "FailureCode",
    "FrontierStats",
    "HostState",
    "Item",
    "Judgement",
    "Kind",
    "Layer",
    "Lease",
    "Lesson",
    "Level",
    "Link",
    "Outcome",
    "Page",
    "Proof",
    "Purpose",
    "Rank",
    "RankedLink",
    "Relevance",
    "RobotsRecord",
    "Service",
    "Settled",
    "State",
    "Status",
    "StoredPage",
    "Url",
    "Verdict",
    "Visit",
]
