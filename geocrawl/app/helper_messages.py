"""What the processes of one crawl tell each other: the first one when to begin and to stop, its helpers what they do.

A visit is told without what only its settlement needs; a document of 20,000 layers costs as much as one of ten.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from geocrawl.crawler.summary import RunSummary
from geocrawl.model import Entry, FrontierStats, Layer, Lease, Settled, Verdict, Visit

if TYPE_CHECKING:
    Channel = Connection[Any, Any]
else:
    Channel = Connection


_PAUSE_S = 0.1
"""Seconds for which a helper collects messages: what a kill may cost of its counts."""


@dataclass(frozen=True, slots=True)
class Begin:
    """To a helper: the database is ready."""

    crawl: str
    """Text of the first process's `Owner`."""
    ends_at: float | None
    """When the time of the crawl is up, by `time.monotonic` of this machine; None: never."""


@dataclass(frozen=True, slots=True)
class Stop:
    """To a helper: let the visits under way settle and end; `at_once`: cut them off."""

    at_once: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """From a helper: a line for a person."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """From a helper: a settled visit."""

    visit: Visit
    result: Settled


@dataclass(frozen=True, slots=True)
class Ended:
    """From a helper, its last message: what it did, and the error that ended it, '' for none."""

    summary: RunSummary | None
    error: str = ""


class Reporter:
    """`ports.Observer` of a helper: tells the first process what happens, several messages at a time.

    A message by itself would cost both more than the counting of a visit; the first process would fall behind, and the
    helper wait for it.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._messages: list[object] = []

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Say nothing: the first process has told how the crawl begins."""

    def noted(self, text: str) -> None:
        """Pass a line on."""
        self.send(Noted(text))

    def leased(self, lease: Lease) -> None:
        """Pass a lease on, for the display and for logs of each visit."""
        self.send(lease)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """Pass on what displays, logs and counts use of a visit."""
        self.send(Done(brief(visit), replace(result, feedback=None)))

    def send(self, message: object) -> None:
        """Send a message soon, at once when no event loop runs."""
        self._messages.append(message)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._flush()
            return
        if len(self._messages) == 1:
            loop.call_later(_PAUSE_S, self._flush)

    def _flush(self) -> None:
        """Send what is collected. Nobody is left to read it when the first process was killed, which ends this one."""
        messages, self._messages = self._messages, []
        with suppress(OSError):
            if messages:
                self._channel.send(messages)


def listen(channel: Channel, hear: Callable[..., None], *arguments: object) -> None:
    """Have the running event loop call `hear` whenever a message, or the end, waits in a channel.

    uvloop makes what it watches non-blocking; a message longer than the socket's buffer would then be cut in two, on
    either side, and all that follows it be lost.
    """
    asyncio.get_running_loop().add_reader(channel.fileno(), hear, *arguments)
    os.set_blocking(channel.fileno(), True)


def brief(visit: Visit) -> Visit:
    """Return a visit without what only its settlement needs."""
    return visit._replace(
        links=visit.links[:1],
        candidates=visit.candidates[:1],
        verdict=visit.verdict and _brief_verdict(visit.verdict),
        content_report=None,
        features=b"",
        stored=None,
    )


def _brief_verdict(verdict: Verdict) -> Verdict:
    """Return a verdict whose service has layers of names alone: the log counts them."""
    service = verdict.service
    if service is not None:
        service = replace(service, layers=tuple(Layer(layer.name, "") for layer in service.layers if layer.name))
    return replace(verdict, service=service, leads=(), pages=())
