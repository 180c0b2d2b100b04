"""Write content reports: the level that an endpoint reached, each request for content, a thumbnail."""

from __future__ import annotations

from geocrawl.model import ContentReport
from geocrawl.store.catalog import statements as sql
from geocrawl.store.engine.clauses import insert
from geocrawl.store.engine.connection import Connection

_DETAIL_CHARS = 500
_MOST_IMAGE_BYTES = 32_768
_LOOK_EVERY = 64
"""Number of thumbnails written between two checks of their total size; a small limit is checked every time."""


class ContentReportWriter:
    """Writes content reports; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection, *, thumbnail_bytes: int) -> None:
        """Write reports. `thumbnail_bytes`: limit on the size of all thumbnails; beyond it the oldest are deleted."""
        self._connection = connection
        self._thumbnail_bytes = thumbnail_bytes
        self._written_thumbnails = 0

    def write(self, endpoint_id: int, report: ContentReport, at: float) -> None:
        """Replace the endpoint's former report. A thumbnail stays until a new one replaces it."""
        level = {
            "level": report.level,
            "proved_at": at,
            "cors": report.cors,
            "answers_https": None if report.https is None else int(report.https),
        }
        self._connection.execute(sql.WRITE_LEVEL, {"endpoint": endpoint_id, **level})
        self._connection.execute(sql.FORGET_REQUESTS, {"endpoint": endpoint_id})
        rows = [
            {
                "endpoint_id": endpoint_id,
                "position": position,
                "layer": attempt.layer,
                "crs": attempt.crs,
                "outcome": attempt.outcome,
                "elapsed_ms": round(attempt.milliseconds, 1),
                "detail": attempt.detail[:_DETAIL_CHARS],
                "url": attempt.url,
                "zoom": attempt.zoom,
            }
            for position, attempt in enumerate(report.attempts)
        ]
        if rows:
            self._connection.executemany(insert("proof", rows[0]), rows)
        if report.thumbnail and self._thumbnail_bytes > 0:
            self._keep_thumbnail(endpoint_id, report.thumbnail, at)

    def _keep_thumbnail(self, endpoint_id: int, image: bytes, at: float) -> None:
        self._connection.execute(sql.KEEP_THUMBNAIL, {"endpoint_id": endpoint_id, "at": at, "image": image})
        self._written_thumbnails += 1
        is_small = self._thumbnail_bytes < _LOOK_EVERY * _MOST_IMAGE_BYTES
        if is_small or self._written_thumbnails % _LOOK_EVERY == 0:
            self._connection.execute(sql.DROP_OLD_THUMBNAILS, {"most_bytes": self._thumbnail_bytes})
