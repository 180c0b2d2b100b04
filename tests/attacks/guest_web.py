"""Hosts that strain a crawl's manners, on one server with an access log.

Strangers redirect their robots.txt to the one victim (to its robots.txt, to rules that it allows, to rules that it
forbids); resetting hosts cut every third connection instead of answering; slow ones take their time; strained ones
answer 429 with a Retry-After; the plain ones and the victim are crawled for their pages.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

from tests.attacks.access_log import RETRY_AFTER_S, SLOW_S, LoggingWeb, Reply, page_of, rules, sort_of, wait
from tests.support.loopback import running

VICTIM = "victim-0.victim.example"
SORTS = ("plain", "slow", "reset", "strained", "stranger", "victim")
PAGES, NAMED_S = 6, 0.05
FORBIDDEN = "/private"


class GuestWeb(LoggingWeb):
    """The hosts of all sorts."""

    def reply(self, host: str, path: str) -> Reply:
        """Return the answer of a host; every third one of a resetting host is a cut connection."""
        sort, number = sort_of(host), self.count(host)
        if sort == "reset" and number % 3 == 0:
            return Reply(0)
        return replace(_reply(sort, host, path, number), after_s={"slow": SLOW_S, "named": NAMED_S}.get(sort, 0.0))


def _reply(sort: str, host: str, path: str, number: int) -> Reply:
    if path == "/robots.txt" and sort == "stranger":
        target = _target(int(host.partition(".")[0].rpartition("-")[2]))
        return Reply(302, headers=(("Location", f"http://{VICTIM}{target}"),))
    if path == "/robots.txt":
        return rules(f"User-agent: *\nDisallow: {FORBIDDEN}\n")
    if path.startswith("/rules"):
        return rules("User-agent: *\nDisallow: /page/0\n")
    if sort == "strained" and number % 5 == 0:
        return wait(429, RETRY_AFTER_S)
    count = 0 if sort == "named" else 1 if sort == "stranger" else PAGES
    return page_of(host, "".join(f"<a href=/page/{n + 1}>map {n}</a>" for n in range(count)))


def _target(number: int) -> str:
    """Return the path on the victim to which a stranger's robots.txt leads."""
    return ("/robots.txt", f"/rules/{number}", f"{FORBIDDEN}/{number}")[number % 3]


def guest_web() -> AbstractContextManager[GuestWeb]:
    """Return a running web."""
    return running(GuestWeb())
