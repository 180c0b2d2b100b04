"""Open the fetcher of the previews, which shares politeness with the crawls on the same catalogue."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from geocrawl.app import wiring
from geocrawl.app.fetchers import make_fetcher
from geocrawl.settings import MIB, Settings
from geocrawl.store import Store
from geocrawl.urls.database import Place
from geocrawl.web.preview.proxy import Previews

_MAX_BODY_BYTES = 4 * MIB
_TOTAL_TIMEOUT_S = 15.0


class AskedHosts:
    """Covers every host that no preview is about (`ports.OptOuts`): a redirect leads nowhere else."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        """Host → previews that ask it now."""

    async def covers(self, host: str) -> bool:
        """Return whether a host must not be asked."""
        return not self.asked[host]


@contextmanager
def open_previews(settings: Settings, catalogue: Place) -> Iterator[Previews]:
    """Yield the previews of a catalogue. A catalogue that cannot be written is not shared with: a line says so."""
    clock, hosts = wiring.system_clock(), AskedHosts()
    bounded = replace(
        settings,
        map_body_bytes=min(settings.map_body_bytes, _MAX_BODY_BYTES),
        total_timeout_s=min(settings.total_timeout_s, _TOTAL_TIMEOUT_S),
        ignore_robots=False,
        # A password was given for the crawl, not for whoever visits the pages.
        sites={name: replace(site, user="", password="") for name, site in settings.sites.items()},
    )

    def say(line: str) -> None:
        sys.stderr.write(f"geocrawl: previews: {line}\n")

    with (
        wiring.shared_politeness(catalogue, bounded, clock, say) as sharing,
        Store.open("sqlite://", clock=clock) as scratch,
    ):
        fetcher = make_fetcher(bounded, scratch.robots(), clock, opt_outs=hosts, share_with=sharing)
        yield Previews(fetcher, hosts.asked)
