"""Collect the attempts of a content check in a report, for all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from geocrawl.model import Attempt, ContentOutcome, ContentReport, Endpoint, Failure, Level, Page, Url
from geocrawl.probe.content.answer import attempt, cors_of
from geocrawl.probe.content.images import thumbnail

T = TypeVar("T")

MAX_ADDRESS_CHARS = 8_000
"""The longest address that common web servers accept (RFC 9110, 4.1)."""
_HOPELESS = frozenset({ContentOutcome.TIMEOUT, ContentOutcome.REFUSED})
_ANSWERED = frozenset(
    {ContentOutcome.BLANK, ContentOutcome.WRONG_SIZE, ContentOutcome.AXIS_ORDER, ContentOutcome.IMAGE_ERROR_TEXT}
)


@dataclass(slots=True)
class Attempts:
    """The attempts of one content check so far."""

    made: list[Attempt] = field(default_factory=list)
    _cors: str = ""
    _image: bytes = b""

    def add(
        self,
        layer: str,
        crs: str,
        url: Url,
        answer: Page | Failure,
        look: tuple[ContentOutcome, str],
        *,
        image: bytes = b"",
        zoom: int | None = None,
    ) -> None:
        """Add the result of requesting an item; the first image with content becomes the thumbnail.

        `image`: the content, if it came with a later answer than `answer`. `zoom`: as in `Attempt`.
        """
        outcome, detail = look
        self.made.append(attempt(layer, crs, outcome, answer, detail, url, zoom))
        self._cors = cors_of(answer) or self._cors
        if outcome is ContentOutcome.OK and isinstance(answer, Page) and not self._image:
            self._image = image or answer.body

    @property
    def is_enough(self) -> bool:
        """Return whether no more requests are needed: content came, or none will come."""
        return bool(self.made) and (self.made[-1].outcome is ContentOutcome.OK or self.made[-1].outcome in _HOPELESS)

    def report(self, endpoint: Endpoint) -> ContentReport:
        """Return the report over all attempts."""
        outcomes = {entry.outcome for entry in self.made}
        level = Level.ANSWERS if outcomes & _ANSWERED else Level.ADVERTISED
        return ContentReport(
            level=Level.DELIVERS if ContentOutcome.OK in outcomes else level,
            attempts=tuple(self.made),
            https=True if endpoint.url.scheme == "https" and outcomes - _HOPELESS else None,
            cors=self._cors,
            thumbnail=thumbnail(self._image) if self._image else b"",
        )


def spread(items: Sequence[T], most: int) -> tuple[T, ...]:
    """Return at most `most` items: the first, the last, and those between at equal steps."""
    if most < 2 or len(items) < 2:
        return tuple(items[: max(most, 0)])
    steps = dict.fromkeys(round(i * (len(items) - 1) / (most - 1)) for i in range(most))
    return tuple(items[step] for step in steps)
