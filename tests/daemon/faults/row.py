"""A row of the fault table, and the steps that every fault has in common."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from geocrawl.demo.web import DemoWeb
from tests.support.daemons import Place, wait_for

SLOWLY = ("--delay", "0.25", "--workers", "2")
"""The demo lasts long enough to be struck in its middle."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    fault: str
    caused_by: str
    lost: int
    recovered_s: float
    more: dict[str, Any] = field(default_factory=dict)

    def figures(self) -> dict[str, Any]:
        """As it is written."""
        return asdict(self)


def through(web: DemoWeb) -> tuple[str, ...]:
    """Options of a daemon that asks this web, not too fast."""
    return ("--proxy", web.proxy_url, *SLOWLY)


def under_way(place: Place, least: int = 5) -> set[str]:
    """What is settled once there is something."""
    wait_for(lambda: len(place.settled()) >= least, "a few visits")
    return place.settled()


def goes_on(place: Place, since: float) -> float:
    """Seconds from `since` (epoch) to the next settled visit."""
    wait_for(lambda: place.last_settled() > since, "a visit after the fault")
    return round(place.last_settled() - since, 2)
