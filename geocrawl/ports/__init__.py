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
    CorrectsRanks,
    HasCounts,
    Interview,
    LevelMeasure,
    MeasuresLevels,
    Probe,
    QueuedLink,
    Reader,
    ReadingPool,
    Recogniser,
    Refusals,
    Strategy,
)

__all__ = [
    "Ask",
    "Clock",
    "ContentCheck",
    "ContentInterview",
    "CorrectsRanks",
    "CrawlQueue",
    "Fetcher",
    "HasCounts",
    "HeldHost",
    "HostBusy",
    "HostLease",
    "Interview",
    "LearningLog",
    "LevelMeasure",
    "MeasuresLevels",
    "NetworkWait",
    "Observer",
    "Observers",
    "Politeness",
    "Probe",
    "QueuedLink",
    "Reader",
    "ReadingPool",
    "Recogniser",
    "Refusals",
    "Renderer",
    "StoreRunner",
    "Strategy",
    "Turn",
]
