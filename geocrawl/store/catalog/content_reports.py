"""What valid endpoints were seen to deliver, as rows: the level, the last proof's attempts, a thumbnail."""

from __future__ import annotations

from geocrawl.model import ContentReport
from geocrawl.store.engine.connection import Connection

_LEVEL = "UPDATE endpoint SET level = ?, proved_at = ?, https = coalesce(?, https), cors = ? WHERE id = ?"
_ADD = """
INSERT INTO proof (endpoint_id, position, layer, crs, outcome, elapsed_ms, detail, url)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_KEEP_IMAGE = """
INSERT INTO thumbnail (endpoint_id, at, image) VALUES (?, ?, ?)
ON CONFLICT (endpoint_id) DO UPDATE SET at = excluded.at, image = excluded.image"""
_OVER = """
DELETE FROM thumbnail WHERE endpoint_id IN (
  SELECT endpoint_id FROM (
    SELECT endpoint_id, sum(length(image)) OVER (ORDER BY at DESC, endpoint_id DESC) AS kept FROM thumbnail)
  WHERE kept > ?)"""
_DETAIL_CHARS = 500
_LOOK_EVERY = 64


class ContentReportWriter:
    """Writes proofs; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection, *, thumbnail_bytes: int) -> None:
        """`thumbnail_bytes`: what all thumbnails may take; past it the oldest go."""
        self._connection = connection
        self._thumbnail_bytes = thumbnail_bytes
        self._images = 0

    def write(self, endpoint_id: int, proof: ContentReport, at: float) -> None:
        """Replace the endpoint's former proof. A thumbnail stays until another takes its place."""
        https = None if proof.https is None else int(proof.https)
        self._connection.execute(_LEVEL, (proof.level, at, https, proof.cors, endpoint_id))
        self._connection.execute("DELETE FROM proof WHERE endpoint_id = ?", (endpoint_id,))
        rows = [
            (
                endpoint_id,
                position,
                each.layer,
                each.crs,
                each.outcome,
                round(each.milliseconds, 1),
                each.detail[:_DETAIL_CHARS],
                each.url,
            )
            for position, each in enumerate(proof.attempts)
        ]
        self._connection.executemany(_ADD, rows)
        if proof.thumbnail and self._thumbnail_bytes > 0:
            self._keep(endpoint_id, proof.thumbnail, at)

    def _keep(self, endpoint_id: int, image: bytes, at: float) -> None:
        self._connection.execute(_KEEP_IMAGE, (endpoint_id, at, image))
        self._images += 1
        if self._images % _LOOK_EVERY == 0 or self._thumbnail_bytes < _LOOK_EVERY * 32_768:
            self._connection.execute(_OVER, (self._thumbnail_bytes,))
