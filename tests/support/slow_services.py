"""A host with services of which some answer late, and a crawl of it to its end: when the quick ones were proved."""

from __future__ import annotations

import select as io
import socket
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import select

from geocrawl.model import Level, Status
from geocrawl.store import Store
from geocrawl.store.database.schema.tables import ENDPOINT
from tests.probe.content_runs import drawn
from tests.support.answers import CAPABILITIES
from tests.support.loopback import Handler, Server, running
from tests.support.processes import checked, clean_environment, geocrawl


class Host(Server):
    """A page that links map services, quick ones and slow ones in turn; notes when which was asked.

    A request is under way until it is answered, or until the client hangs up: it gives a slow service up for a while.
    """

    def __init__(self, services: int, slow: int, answer_s: float) -> None:
        super().__init__(_Answers)
        self.paths = [f"/maps/{number}/wms" for number in range(services)]
        self.slow = set(self.paths[3 :: max(services // slow, 1)][:slow])
        self.answer_s = answer_s
        self.asked: list[tuple[float, str]] = []
        self.under_way = self.most_at_once = self.given_up = 0
        self.lock = threading.Lock()


class _Answers(Handler):
    server: Host

    def respond(self) -> None:
        host, parts = self.server, urlsplit(self.path)
        with host.lock:
            host.asked.append((time.monotonic(), parts.path))
            host.under_way += 1
            host.most_at_once = max(host.most_at_once, host.under_way)
        is_given_up = parts.path in host.slow and self._hangs_up_within(host.answer_s)
        body, content_type = _body(host, parts.path, parts.query)
        with host.lock:
            host.under_way -= 1
            host.given_up += is_given_up
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.write(body)

    def _hangs_up_within(self, seconds: float) -> bool:
        readable, _, _ = io.select([self.connection], [], [], seconds)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except ConnectionError:
            return True


def _body(host: Host, path: str, query: str) -> tuple[bytes, str]:
    asked = {name.lower(): values[0] for name, values in parse_qs(query).items()}
    if path == "/":
        links = (f'<li><a href="{each}?SERVICE=WMS&REQUEST=GetCapabilities">{each}</a></li>' for each in host.paths)
        return f"<title>Maps</title><ul>{''.join(links)}</ul>".encode(), "text/html"
    if path not in host.paths:
        return b"", "text/html"
    if asked.get("request") == "GetMap":
        return _picture(int(asked["width"]), int(asked["height"])), "image/png"
    return CAPABILITIES.replace("Roads of Härjedalen", f"Roads of {path}").encode(), "text/xml"


@cache
def _picture(width: int, height: int) -> bytes:
    return drawn(width, height).body


def measure(services: int, slow: int, answer_s: float) -> dict[str, Any]:
    """Return how many services were proved with how many requests, and after how many seconds the quick ones were."""
    with (
        tempfile.TemporaryDirectory(prefix="geocrawl-slow-") as folder,
        running(Host(services, slow, answer_s)) as host,
    ):
        path, start = Path(folder) / "c.db", f"http://127.0.0.1:{host.server_port}/"
        command = geocrawl("crawl", start, "--db", str(path), "--allow-private", "--delay", "0", "--quiet", "--wait")
        done = checked(command, env=clean_environment(Path(folder)))
        with Store.open_readonly(str(path)) as connection:
            rows = connection.execute(select(ENDPOINT.c.url, ENDPOINT.c.status, ENDPOINT.c.level))
            proved = {
                urlsplit(url).path for url, status, level in rows if (status, level) == (Status.VALID, Level.DELIVERS)
            }
    begun = host.asked[0][0]
    quick = [at - begun for at, path in host.asked if path in host.paths and path not in host.slow]
    return {
        "services": services,
        "slow": len(host.slow),
        "answer_s": answer_s,
        "quick_proved": len(proved - host.slow),
        "slow_proved": len(proved & host.slow),
        "quick_done_after_s": round(max(quick), 1),
        "all_done_after_s": round(done.wall_s, 1),
        "requests_a_service": round(sum(path in host.paths for _, path in host.asked) / services, 2),
        "given_up": host.given_up,
        "most_at_once": host.most_at_once,
    }
