"""Replay and measure a user's own crawl, recorded by `geocrawl crawl --record`: pages and services as they answered.

A recording comes without truth. The fixed judge alone decides which pages are relevant, and the services that any
strategy of the contest found (the pool) count as reachable. Addresses that were not recorded cannot be reached; the
contest reports how many of them a crawl requested.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.fetch.record import SEEDS_FIELD
from geocrawl.lab.recorded_worlds.addresses import read_query
from geocrawl.lab.recorded_worlds.replay import Response, error_page
from geocrawl.lab.recorded_worlds.services import operation
from geocrawl.lab.recorded_worlds.warc import WarcFile, file_sha256, kind_of_answer

UNRECORDED = "unrecorded"
_CAPABILITIES = re.compile(rb"<(?:\w+:)?(?:WMS_|WMT_MS_|WFS_|WCS_)?Capabilities[\s>]")


class RecordedWeb:
    """The web of one WARC file (`replay.Web`)."""

    def __init__(self, path: Path) -> None:
        """Read the recording. Raises UsageError for a file that is no WARC, is cut off, or contains no page."""
        self.path = path
        self.name = path.name.removesuffix(".gz").removesuffix(".warc")
        self.warc = WarcFile(path, with_scheme=True, kind_of=_kind_of)
        self.seeds: Sequence[str] = self.warc.info.get(SEEDS_FIELD) or [self.warc.first][: bool(self.warc.first)]
        if not self.seeds:
            raise UsageError(f"{path} contains no answer of a web server")

    @property
    def pages(self) -> int:
        """Return the number of recorded answers that count as pages."""
        return sum(r.kind == "page" and not 300 <= r.status < 400 for r in self.warc.records.values())

    @cached_property
    def sha256(self) -> str:
        """Return the SHA-256 of the recording in hexadecimal digits."""
        return file_sha256(self.path)

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """Return the recorded answer, else 404 of kind `unrecorded`."""
        stored = self.warc.read(f"{scheme}://{host}{target}")
        if stored is None:
            return error_page(404)._replace(kind=UNRECORDED)
        return Response(stored.status, stored.headers, stored.body, stored.kind, None, _asked(target))


def _asked(target: str) -> str | None:
    return operation({name.lower(): value for name, value in read_query(target)})


def _kind_of(address: str, content_type: str, head: bytes) -> str:
    """Return the kind of an answer as in a recorded world; services are recognised by request and answer."""
    if _asked(address.partition("#")[0]) or _CAPABILITIES.search(head):
        return "service"
    return kind_of_answer(address, content_type, head)
