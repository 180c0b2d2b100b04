"""Notice within a bound that the network to the server is cut, on either side, also when no packet says so.

A connection whose peer is gone without a word (a cable, a crashed machine, a firewall that forgot it) looks like one
that waits. TCP asks the peer itself after ten quiet seconds and gives up after 25; the server is told to do the same,
so it ends the transaction of a client that vanished. A device on the way that acknowledges all packets and passes none
on is noticed by the time that an answer takes.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from geocrawl.urls.database import ServerDatabase

T = TypeVar("T")

CUT_S = 25
"""Seconds after which TCP gives up a peer that answers nothing."""
WRITER_S, READER_S = 60.0, 900.0
"""Seconds that a statement may take on a connection that writes, where all are short, and on one that only reads."""
_ASKS_AFTER_S, _ASKS_EVERY_S = 10, 5
_ASKS = (CUT_S - _ASKS_AFTER_S) // _ASKS_EVERY_S
_CONNECT_S = 10

SERVER_SETTINGS = (
    f"SET tcp_keepalives_idle = {_ASKS_AFTER_S}; SET tcp_keepalives_interval = {_ASKS_EVERY_S}; "
    f"SET tcp_keepalives_count = {_ASKS}; SET tcp_user_timeout = '{CUT_S}s'; "
)
"""The server's side of a connection; it ignores them for UNIX sockets."""
_OURS = {
    "application_name": "geocrawl",
    "connect_timeout": _CONNECT_S,
    "keepalives_idle": _ASKS_AFTER_S,
    "keepalives_interval": _ASKS_EVERY_S,
    "keepalives_count": _ASKS,
    "tcp_user_timeout": 1000 * CUT_S,
}


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed when an answer takes longer than `limit_s`."""

    limit_s = WRITER_S

    def wait(self, gen: Any, *arguments: Any, **named: Any) -> Any:
        """Wait as psycopg does, with a limit. Raises OperationalError when it is reached."""
        return super().wait(self._within(gen, self.limit_s), *arguments, **named)

    def _within(self, work: Generator[Any, Any, T], limit_s: float) -> Generator[Any, Any, T]:
        """Pass on what psycopg waits for: it goes on ten times a second though nothing is ready."""
        began = 0.0
        try:
            wanted = next(work)
            while True:
                ready = yield wanted
                if not ready:
                    now = time.monotonic()
                    began = began or now
                    if now - began >= limit_s:
                        break
                wanted = work.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result
        self.pgconn.finish()
        raise psycopg.OperationalError(f"no answer for {limit_s:g} s")


def parameters(server: ServerDatabase) -> dict[str, Any]:
    """Return the parameters of a connection; what the URL says of them counts. Raises psycopg's ProgrammingError for a
    URL that cannot be read."""
    return {**_OURS, **conninfo_to_dict(server.url)}
