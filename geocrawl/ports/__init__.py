"""Define the protocols between packages, one file for each subject: small, so that each side can be tested alone.

`crawler/` uses other packages only through these protocols; `app/wiring.py` chooses the implementing classes.
"""

from geocrawl.ports.fetching import (
    Clock,
    Fetcher,
    HeldHost,
    HostBusy,
    HostLease,
    NetworkWait,
    Politeness,
    Renderer,
    Turn,
)
from geocrawl.ports.queue import CrawlQueue, LearningLog, Observer, Observers, StoreRunner
from geocrawl.ports.thinking import (
    Ask,
    ContentCheck,
    ContentInterview,
    Correcting,
    Counted,
    Interview,
    Probe,
    Reader,
    ReadingPool,
    ReadsKeywords,
    Recogniser,
    Refusals,
    Strategy,
    Waiting,
)

__all__ = [
    "Ask",
    "Clock",
    "ContentCheck",
    "ContentInterview",
    "Correcting",
    "Counted",
    "CrawlQueue",
    "Fetcher",
    "HeldHost",
    "HostBusy",
    "HostLease",
    "Interview",
    "LearningLog",
    "NetworkWait",
    "Observer",
    "Observers",
    "Politeness",
    "Probe",
    "Reader",
    "ReadingPool",
    "ReadsKeywords",
    "Recogniser",
    "Refusals",
    "Renderer",
    "StoreRunner",
    "Strategy",
    "Turn",
    "Waiting",
]
