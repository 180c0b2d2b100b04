"""Say what becomes of services: sixty fates, each a list of what a server does and for how many days."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tests.simulation.web import Reply

SLOW_S = 9.0
"""Time of a slow answer."""
ALWAYS = 1e6
"""Days of what does not end."""


class Truth(StrEnum):
    """What is true of a service."""

    UP = "up"
    DEAD = "dead"
    """It gives no valid answer, or none at all."""
    FORBIDDEN = "forbidden"
    """Its robots.txt excludes us."""
    PATIENCE = "patience"
    """It runs, and asks to be left alone for a while."""
    MOVED = "moved"
    """It has moved for good, and is well where it is now."""
    UNBORN = "unborn"
    """No page names it yet."""
    FILTERED = "filtered"
    """A filter before it refuses us, or asks for a browser: nobody can see how it is."""
    FORGOTTEN = "forgotten"
    """Its operator asked us never to visit or list it again."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a server does; None: as when it is well."""

    truth: Truth
    service: Reply | None = None
    robots: Reply | None = None
    is_named: bool = True
    """Whether a name server knows the host."""


def _html(title: str) -> Reply:
    return Reply(200, f"<!DOCTYPE html><html><title>{title}</title><p>{title}</p>".encode())


def _everything(truth: Truth, reply: Reply) -> Behaviour:
    return Behaviour(truth, reply, reply)


_EXCEPTION = (
    b'<?xml version="1.0"?><ServiceExceptionReport version="1.1.1"><ServiceException>out of order'
    b"</ServiceException></ServiceExceptionReport>"
)
_EMPTY = (
    b'<?xml version="1.0"?><WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS'
    b"</Name><Title>nothing</Title></Service><Capability/></WMS_Capabilities>"
)
_BARE = b'<?xml version="1.0"?><WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"/>'
_CHALLENGE = b"<!DOCTYPE html><title>Just a moment...</title><p>Enable JavaScript and cookies to continue"
_BLOCK_PAGE = b"<!DOCTYPE html><title>Web filter</title><h1>FortiGuard Intrusion Prevention</h1><p>Access blocked"
_FORBIDS = Reply(200, b"User-agent: *\nDisallow: /\n", "text/plain")
LOGIN_HOST = "login.example"
ON_THE_WAY: Mapping[str, Reply] = {
    "sent to a login page": Reply(302, location=f"http://{LOGIN_HOST}/"),
    "login page": Reply(200, b"<!DOCTYPE html><title>Log in</title><p>Guests of the hotel log in here"),
    "block page": Reply(403, _BLOCK_PAGE),
    "gateway": Reply(504, b"<!DOCTYPE html><title>Gateway timeout</title>"),
    "login demanded": Reply(511, b"<!DOCTYPE html><title>Network Authentication Required</title>"),
    "cut off": Reply(fault="reset"),
}
"""What the network on the way answers for a while in place of all servers, robots.txt included."""
HOST, QUERY = "{host}", "{query}"
"""Stand in a target (`Reply.location`) for the service's own host (`new` before it: where it moves) and the query."""
BEHAVIOURS: Mapping[str, Behaviour] = {
    "well": Behaviour(Truth.UP),
    "slow": Behaviour(Truth.UP, Reply(fault="slow")),
    "other layers": Behaviour(Truth.UP, Reply(fault="other-layers")),
    "no layers": Behaviour(Truth.UP, Reply(200, _EMPTY, "text/xml")),
    "other document": Behaviour(Truth.UP, Reply(fault="other-document")),
    "certificate expired": Behaviour(Truth.UP, Reply(fault="certificate"), Reply(fault="certificate")),
    "answers elsewhere": Behaviour(Truth.UP, Reply(302, location=f"http://{HOST}/elsewhere?{QUERY}")),
    "refused": _everything(Truth.DEAD, Reply(fault="refused")),
    "reset": _everything(Truth.DEAD, Reply(fault="reset")),
    "name gone": Behaviour(Truth.DEAD, is_named=False),
    "hangs": _everything(Truth.DEAD, Reply(fault="silent")),
    "service hangs": Behaviour(Truth.DEAD, Reply(fault="silent")),
    "400": Behaviour(Truth.DEAD, Reply(400)),
    "401": Behaviour(Truth.DEAD, Reply(401)),
    "403": Behaviour(Truth.DEAD, Reply(403)),
    "404": Behaviour(Truth.DEAD, Reply(404)),
    "410": Behaviour(Truth.DEAD, Reply(410)),
    "500": Behaviour(Truth.DEAD, Reply(500)),
    "502": Behaviour(Truth.DEAD, Reply(502)),
    "503": Behaviour(Truth.DEAD, Reply(503)),
    "empty body": Behaviour(Truth.DEAD, Reply(200, b"", "text/xml")),
    "cut off": Behaviour(Truth.DEAD, Reply(fault="truncated")),
    "bare capabilities": Behaviour(Truth.DEAD, Reply(200, _BARE, "text/xml")),
    "exception": Behaviour(Truth.DEAD, Reply(200, _EXCEPTION, "text/xml")),
    "json": Behaviour(Truth.DEAD, Reply(200, b'{"error": "no such service"}', "application/json")),
    "parked": Behaviour(Truth.DEAD, _html("This domain is for sale")),
    "login": Behaviour(Truth.DEAD, Reply(302, location=f"http://{HOST}/login")),
    "loop": Behaviour(Truth.DEAD, Reply(302, location=f"http://{HOST}/ows?{QUERY}")),
    "to the home page": Behaviour(Truth.DEAD, Reply(301, location=f"http://new.{HOST}/")),
    "to another service": Behaviour(Truth.DEAD, Reply(301, location=f"http://other.{HOST}/ows?{QUERY}")),
    "everything 500": _everything(Truth.DEAD, Reply(500)),
    "everything 503": _everything(Truth.DEAD, Reply(503)),
    "robots.txt 503": Behaviour(Truth.UP, robots=Reply(503)),
    "robots.txt forbids": Behaviour(Truth.FORBIDDEN, robots=_FORBIDS),
    "429": Behaviour(Truth.PATIENCE, Reply(429, retry_after_s=7_200)),
    "429 without a time": Behaviour(Truth.PATIENCE, Reply(429)),
    "503 for an hour": Behaviour(Truth.PATIENCE, Reply(503, retry_after_s=3_600)),
    "everything 429": _everything(Truth.PATIENCE, Reply(429, retry_after_s=40_000)),
    "challenge": _everything(Truth.FILTERED, Reply(403, _CHALLENGE)),
    "block page": Behaviour(Truth.FILTERED, Reply(403, _BLOCK_PAGE)),
    "403 for two hours": Behaviour(Truth.FILTERED, Reply(403, retry_after_s=7_200)),
    "200 and patience": Behaviour(Truth.FILTERED, _html("Later, please")._replace(retry_after_s=3_600)),
    "301": Behaviour(Truth.MOVED, Reply(301, location=f"http://new.{HOST}/ows?{QUERY}")),
    "308": Behaviour(Truth.MOVED, Reply(308, location=f"http://new.{HOST}/ows?{QUERY}")),
    "unborn": Behaviour(Truth.UNBORN, Reply(404)),
    "forgotten": Behaviour(Truth.FORGOTTEN),
}

_FOR_GOOD = tuple(
    name for name, behaviour in BEHAVIOURS.items() if behaviour.truth not in (Truth.UP, Truth.UNBORN, Truth.FORGOTTEN)
)
Fate = tuple[tuple[str, float], ...]
"""What a service does after its first days, and for how many days; then it is well again."""
FATES: Mapping[str, Fate] = {
    "well": (),
    **{
        name: ((name, ALWAYS),)
        for name in ("slow", "other layers", "no layers", "certificate expired", "answers elsewhere")
    },
    **{name: ((name, ALWAYS),) for name in _FOR_GOOD},
    "away for three hours": (("refused", 0.125),),
    "away for minutes": (("refused", 0.003), ("well", 0.4), ("500", 0.003), ("well", 0.2), ("name gone", 0.003)),
    "away for a month": (("404", 30.0),),
    "mute for a week": (("everything 503", 7.0),),
    "mute for a month": (("everything 503", 33.0),),
    "forbids for a month": (("robots.txt forbids", 30.0),),
    "patience for a day": (("everything 429", 1.0),),
    "challenge for a week": (("challenge", 7.0),),
    "filtered and dies": (("block page", 20.0), ("name gone", ALWAYS)),
    "flaps": (("503", 0.5), ("well", 0.5)) * 12,
    "dies twice": (("500", 12.0), ("well", 14.0), ("name gone", ALWAYS)),
    "moves and dies": (("301", 25.0), ("name gone", ALWAYS)),
    "born later": (),
    "twins, one dies": (),
    "twins that part": (),
    "merged by a person": (),
    "merged and split, one dies": (),
    "forgotten": (("forgotten", ALWAYS),),
}


@dataclass(slots=True, eq=False)
class MadeService:
    """A service of the web, and what becomes of it."""

    number: int
    fate: str
    host: str
    """Where pages name it."""
    document: int
    """Services of one number describe themselves alike."""
    phases: list[tuple[float, str]] = field(default_factory=list)
    """Since which day it does what; the first phase begins before day 0."""
    twin: MadeService | None = None
    """Another address on its site that is, or is called by a person, the same service."""
    decisions: list[tuple[float, bool]] = field(default_factory=list)
    """On which days a person says that it and its twin are one service, or are not."""

    @property
    def address(self) -> str:
        """Return the address at which pages name it."""
        return f"{'https' if self.fate == 'certificate expired' else 'http'}://{self.host}/ows"

    def place(self, day: float) -> int:
        """Return the index of its phase on a day."""
        return bisect_right(self.phases, day, key=lambda phase: phase[0]) - 1

    def behaviour(self, day: float) -> Behaviour:
        """Return what it does on a day."""
        return BEHAVIOURS[self.phases[self.place(day)][1]]


def draw(count: int, days: float, lot: random.Random) -> list[MadeService]:
    """Return services of all fates in turn; what happens to them begins in the first third of the days."""
    names = list(FATES)
    made: list[MadeService] = []
    for number in range(count):
        begins = lot.uniform(min(9.0, 0.2 * days), 0.4 * days)
        name = names[number % len(names)]
        service = MadeService(number, name, f"s{number}.example", number)
        service.phases = _phases(name, begins)
        made.append(service)
        if name in _TWINS:
            made.append(_with_twin(service, count + number, begins, days))
    return made


def _phases(name: str, begins: float) -> list[tuple[float, str]]:
    if name == "born later":
        return [(-1.0, "unborn"), (begins, "well")]
    phases = [(-1.0, "well")]
    for behaviour, lasts in FATES[name]:
        phases.append((begins, behaviour))
        begins += lasts
    return [*phases, (begins, "well")] if len(phases) > 1 and begins < ALWAYS else phases


_TWINS = ("twins, one dies", "twins that part", "merged by a person", "merged and split, one dies")


def _with_twin(service: MadeService, number: int, begins: float, days: float) -> MadeService:
    """Return the twin of a service. Twins describe themselves alike, unless a person alone knows that they are one."""
    is_alike = service.fate.startswith("twins")
    twin = MadeService(number, service.fate, f"b.{service.host}", service.number if is_alike else number)
    twin.phases = [(-1.0, "well")]
    service.twin, twin.twin = twin, service
    if service.fate == "twins, one dies":
        twin.phases.append((begins, "404"))
    elif service.fate == "twins that part":
        twin.phases.append((begins, "other document"))
    else:
        service.decisions.append((begins, True))
    if service.fate == "merged and split, one dies":
        service.decisions.append((begins + 0.2 * days, False))
        twin.phases.append((begins + 0.25 * days, "500"))
    return twin
