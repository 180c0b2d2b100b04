"""Queue pages that waited for a probe of their address, when the probe has found an ordinary page there.

Others decide how many addresses lead to one endpoint: all that differ in parameters which a service ignores. So a
probe's settlement frees at most 1,000 of them, and the rest is freed in transactions of its own before the next lease.
"""

from __future__ import annotations

from geocrawl.store.engine import steps
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import Steps
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.arriving import ArrivalWriter
from geocrawl.store.frontier.lifecycle import arrival_state
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.stored_url import stored_url


class CandidatePages:
    """Pages that were refused while a probe of their address was due."""

    def __init__(self, database: Database, arrivals: ArrivalWriter, queue: Queue, max_depth: int) -> None:
        self._database = database
        self._arrivals = arrivals
        self._queue = queue
        self._max_depth = max_depth
        self._unfinished: list[int] = []
        """Endpoints with more such pages. When the process is killed, their next probe continues."""

    def free(self, endpoint_id: int) -> None:
        """Queue an endpoint's pages, caps and depth permitting, inside the caller's transaction: the first 1,000."""
        most = steps.ROWS
        rows = self._database.connection.execute(sql.CANDIDATE_PAGES, (endpoint_id, most)).fetchall()
        pages = [(page_id, key, stored_url(address), depth) for page_id, key, address, depth in rows]
        plan = self._arrivals.begin([url for _, _, url, _ in pages])
        for page_id, key, url, depth in pages:
            reason = plan.count(url, key, depth)
            self._queue.change(page_id, arrival_state(depth, self._max_depth, reason), reason or None)
        self._arrivals.write(plan)
        if len(rows) == most:
            self._unfinished.append(endpoint_id)

    def free_rest(self) -> Steps[None]:
        """Queue the pages that are left of those endpoints, 1,000 a transaction."""
        while self._unfinished:
            with self._database.transaction:
                self.free(self._unfinished.pop())
                self._queue.flush()
            yield
