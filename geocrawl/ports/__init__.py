"""Define the protocols between packages, one file for each subject: small, so that each side can be tested alone.

`crawler/` uses other packages only through these protocols; `app/wiring.py` chooses the implementing classes.
"""

from geocrawl.ports.fetching import (
    Clock,
    Fetcher,
    HeldHost,
    HostBusy,
    HostLease,
    HostLeases,
    NetworkWait,
    OptOuts,
    Renderer,
    RobotsStore,
    Turn,
)
from geocrawl.ports.probing import Ask, ContentCheck, ContentInterview, Interview, Probe
from geocrawl.ports.queue import CatalogQueries, CrawlQueue, Frontier, LearningLog, Observer, QueueControl, SharedRun
from geocrawl.ports.reading import Reader, ReadingPool, Recogniser, Refusals
from geocrawl.ports.strategy import Correcting, Counted, Strategy, Waiting

__all__ = [
    "Ask",
    "CatalogQueries",
    "Clock",
    "ContentCheck",
    "ContentInterview",
    "Correcting",
    "Counted",
    "CrawlQueue",
    "Fetcher",
    "Frontier",
    "HeldHost",
    "HostBusy",
    "HostLease",
    "HostLeases",
    "Interview",
    "LearningLog",
    "NetworkWait",
    "Observer",
    "OptOuts",
    "Probe",
    "QueueControl",
    "Reader",
    "ReadingPool",
    "Recogniser",
    "Refusals",
    "Renderer",
    "RobotsStore",
    "SharedRun",
    "Strategy",
    "Turn",
    "Waiting",
]
