"""A web of recorded answers, in place of the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from geocrawl.app.session import Environment
from geocrawl.lab.recorded_worlds.replay import ReplayClock, ReplayTransport, Response, error_page
from geocrawl.model.health import DAY_S

Answer = tuple[str, bytes]
"""Content type and body."""


class Answers:
    """`lab.recorded_worlds.replay.Web`: an address without its query → what answers there; all else is not found."""

    def __init__(self, answers: Mapping[str, Answer | Callable[[str], Answer]]) -> None:
        """`answers`: `host/path` → the answer, or what makes it of the query. Https and http are one."""
        self._answers = answers
        self.asked: list[str] = []
        """host/path?query of every request but those for robots.txt, in order."""
        self.runs = 0
        """Crawls and harvests of this web so far."""

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """The answer to a GET."""
        if target != "/robots.txt":
            self.asked.append(host + target)
        found = self._answers.get(host + target.partition("?")[0])
        if found is None:
            return error_page(404)
        content_type, body = found(target.partition("?")[2]) if callable(found) else found
        return Response(200, [("Content-Type", content_type)], body, "page")


def environment(answers: Answers) -> Environment:
    """What a crawl or a harvest takes from outside, when these answers are its web; a day later each time."""
    clock = ReplayClock(ReplayClock().now() + DAY_S * answers.runs)
    answers.runs += 1
    transport = ReplayTransport(answers, clock)
    return Environment(clock, transport, lambda: 0)
