"""A web of recorded answers by address, in the network's place."""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.evaluate.replay import ReplayClock, ReplayTransport, Response, nothing
from geocrawl.session import Surroundings


class Answers:
    """`evaluate.replay.Web`: an address without its query → what answers there; all else is not found."""

    def __init__(self, answers: Mapping[str, tuple[str, bytes]]) -> None:
        """`answers`: `host/path` → content type and body. Https and http are one."""
        self._answers = answers
        self.asked: list[str] = []
        """host/path?query of every request but those for robots.txt, in order."""

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """The answer to a GET."""
        if target == "/robots.txt":
            return nothing(404)
        self.asked.append(host + target)
        found = self._answers.get(host + target.partition("?")[0])
        if found is None:
            return nothing(404)
        return Response(200, [("Content-Type", found[0])], found[1], "page")


def surroundings(answers: Answers) -> Surroundings:
    """What a crawl or a harvest takes from outside, when these answers are its web."""
    clock = ReplayClock()
    transport = ReplayTransport(answers, clock)
    return Surroundings(clock, transport, lambda: 0)
