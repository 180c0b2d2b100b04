"""Define the protocols between packages, one file for each subject: small, so that each side can be tested alone.

`crawler/` uses other packages only through these protocols; `app/wiring.py` chooses the implementing classes.
"""

from geocrawl.ports.catalog import CatalogQueries
from geocrawl.ports.clock import Clock
from geocrawl.ports.fetching import Fetcher, NetworkWait, RobotsStore, Turn
from geocrawl.ports.hosts import HeldHost, HostBusy, HostLease, HostLeases, OptOuts
from geocrawl.ports.observing import Observer
from geocrawl.ports.probing import Ask, ContentCheck, ContentInterview, Interview, Probe
from geocrawl.ports.queue import CrawlQueue, Frontier, LearningLog, QueueControl, SharedRun
from geocrawl.ports.reading import Reader, ReadingPool, Recogniser, Refusals
from geocrawl.ports.rendering import Renderer
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
