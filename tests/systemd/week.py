"""A week of the unit under systemd with `MemoryMax=400M`, in which the web does what webs do: a timeline, and what went
wrong (`python -m tests.systemd.week`, as root; half an hour).

The daemon is the installed one under its real unit; its clock and that of the web run `--speed` times as fast
(`fast_clock.c`), that of systemd does not: it restarts and gives up as ever. Services, each on an address of its own,
are those of `tests.fates`. Twice somebody on the way answers for all of them; a filter stands before three; one dies,
one's domain is parked; two send pictures that are small and dear; one of two recipients never answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from geocrawl.model.health import DAY_S
from tests.fates.fates import LOGIN_HOST, ON_THE_WAY, MadeService
from tests.fates.web import PORTAL, FateWeb
from tests.probe.test_decoding import hostile, tiff
from tests.support.http_server import answer
from tests.support.places import ROOT
from tests.systemd.container import MEMORY, CannotBootError
from tests.systemd.service import DB, GEOCRAWL, HOME, Service, machine

DAYS, SPEED = 7.0, 300.0
SERVICES, OFTEN = 24, "2h"
WAYS = ((1.0, 1.4, "sent to a login page"), (3.5, 3.9, "block page"))
"""From which day to which day who on the way answers in place of all."""
DEATHS = {1: (2.2, "404"), 7: (2.5, "parked")}
"""Number of a service → from which day it is how dead."""
DEAR, DEAR_FROM = (2, 3), 3.0
FILTERED, FILTER = (4, 5, 6), (4.0, 5.5)
KNOWN_WITHIN = 3.0
"""Days until a death is told."""
MOST_RESTARTS = 2
_TILE = {259: 50_000, 262: 2, 277: 4, 338: 2, 322: 20_000, 323: 20_000, 324: 0}
_ZEROS = b"\x28\xb5\x2f\xfd\x00\x38" + b"\x02\x00\x10\x00" * 12_207 + b"\x03\x00\x10\x00"
"""1.6 GB of zeros: a frame of Zstandard (RFC 8878, 3.1.1) with blocks of 128 KiB, each of them four bytes."""
_HOOK, _TOLD = "hook.example", "/var/lib/geocrawl/told.jsonl"
_SOURCE, _OWN, _CLOCK = f"{HOME}/source", f"{HOME}/own", f"{HOME}/fast_clock.so"
_LIMITS = "[Service]\nMemoryMax=400M\n"
_READ = f"""import json, sqlite3, sys
rows = sqlite3.connect("file:{DB}?mode=ro", uri=True, timeout=60).execute(sys.argv[1])
print(json.dumps(rows.fetchall()))
"""
_CONFIGURATION = f'''db = "{DB}"
allow_private = true
contact = "admin@localhost"
requests_per_ip = 0
dns_timeout = "10m"
connect_timeout = "10m"
read_timeout = "10m"
total_timeout = "20m"
'''
"""Computing takes its real time: a second of it is five minutes of the week, so limits of time are as much longer."""
_NEWER = 'probe_time = "6h"\n'
"""Older versions refuse it."""


def services() -> list[MadeService]:
    """Return the services of the week with what becomes of them."""
    made = [MadeService(n, "well", f"s{n}.example", n, phases=[(-1.0, "well")]) for n in range(SERVICES)]
    for number, phase in DEATHS.items():
        made[number].phases.append(phase)
    for number in FILTERED:
        made[number].phases += [(FILTER[0], "challenge"), (FILTER[1], "well")]
    return made


# --------------------------------------------------------------------------- the web, in the container


async def serve(begun: float) -> None:
    """Answer for all hosts at addresses of their own, and as a recipient that takes each message and never answers."""
    web = FateWeb(services(), lambda: (time.time() - begun) / DAY_S)
    tile = tiff((64, 64), _ZEROS, _TILE)
    dear = [tile, hostile()["a hundred thousand strips that share their bytes"][0]]

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                line, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                host = next(each[5:].strip() for each in fields if each.lower().startswith("host:"))
                if host.startswith(_HOOK):
                    await asyncio.Event().wait()
                writer.write(_answer(web, host, line.split(" ")[1], begun, dear))
        writer.close()

    await asyncio.start_server(connected, list(_addresses().values()), 80)
    await asyncio.Event().wait()


def _answer(web: FateWeb, host: str, target: str, begun: float, dear: Sequence[bytes]) -> bytes:
    day = (time.time() - begun) / DAY_S
    web.on_the_way = next((ON_THE_WAY[name] for since, until, name in WAYS if since <= day < until), None)
    service, _ = web.service_at(host)
    asked = {name.lower(): value for name, value in parse_qsl(target.partition("?")[2])}
    if service and service.number in DEAR and day >= DEAR_FROM and asked.get("request") == "GetMap":
        return answer(dear[service.number % len(dear)], content_type="image/tiff")
    reply = web.respond(host, target)
    named = {"content_type": reply.content_type} | ({"location": reply.location} if reply.location else {})
    return answer(reply.body, f"{reply.status} Said", **named)


def _addresses() -> dict[str, str]:
    names = [PORTAL, LOGIN_HOST, _HOOK, *(each.host for each in services())]
    return {name: f"127.20.0.{number}" for number, name in enumerate(names, 1)}


# --------------------------------------------------------------------------- the week


@dataclass(slots=True)
class Week:
    """A unit that lives through it."""

    service: Service
    begun: float
    """Seconds since the epoch, when its clock began to be fast."""
    speed: float
    peak_mib: float = 0.0
    restarts: int = 0

    @property
    def fast(self) -> list[str]:
        """Return the environment of what has the week's clock."""
        return [f"LD_PRELOAD={_CLOCK}", f"FAST_CLOCK={self.begun:.0f} {self.speed:g}"]

    def today(self) -> float:
        """Return the day, from 0."""
        return (time.time() - self.begun) * self.speed / DAY_S

    def command(self, *arguments: str) -> int:
        """Return the exit code of a command of geocrawl with the week's clock."""
        return self.service.container.run("env", *self.fast, GEOCRAWL, *arguments).exit_code

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return what a statement reads from the catalogue."""
        found: list[tuple[Any, ...]] = json.loads(
            self.service.container.say(f"{HOME}/bin/python", "-c", _READ, statement)
        )
        return found

    def told(self) -> list[dict[str, Any]]:
        """Return the notices that the file was given."""
        path = self.service.container.root / _TOLD.lstrip("/")
        lines = path.read_text().splitlines() if path.exists() else []
        return [notice for line in lines for notice in json.loads(line)["notices"]]

    def begin(self) -> None:
        """Serve the web, install the unit, and start it with one start page."""
        container = self.service.container
        with (container.root / "etc/hosts").open("a") as hosts:
            hosts.writelines(f"{address} {name}\n" for name, address in _addresses().items())
        given = [f"--setenv={each}" for each in (*self.fast, f"PYTHONPATH={_SOURCE}:{_OWN}")]
        serve_web = (f"{HOME}/bin/python", "-m", "tests.systemd.week", "--serve", f"{self.begun:.0f}")
        container.say("systemd-run", "--quiet", "--unit=week-web", *given, *serve_web)
        container.say(GEOCRAWL, "service", "install")
        self.service.configure(_CONFIGURATION + _NEWER)
        if self.command("config", "check"):
            self.service.configure(_CONFIGURATION)
        self.service.drop_in(_LIMITS + "".join(f'Environment="{each}"\n' for each in self.fast))
        self.command("seeds", "add", f"http://{PORTAL}/")
        self.service.start()

    def watch(self) -> None:
        """Watch all services for both recipients, and each second one at an interval."""
        for recipient in (f"file:{_TOLD}", f"http://{_HOOK}/"):
            self.command("watch", "add", "kind:wms", "--to", recipient)
        for each in services()[::2]:  # older versions have no intervals
            self.command("watch", "add", each.address, "--every", OFTEN)

    def look(self) -> None:
        """Add a line to the timeline."""
        self._measure()
        day, states = self.today(), Counter[str]()
        for health, reason in self.rows("SELECT health, reason FROM endpoint WHERE last_ok > 0"):
            state = {"alive": "well", "down": "dead", "gone": "dead"}.get(health, "failing")
            states[{"network": "held", "filtered": "blocked"}.get(reason, state)] += 1
        sent, waiting = len(self.told()), self.rows("SELECT count(*) FROM notice WHERE sent_at IS NULL")[0][0]
        said = " ".join(f"{states[name]:4}" for name in ("well", "held", "blocked", "failing", "dead"))
        unit = f"{self.restarts:8} {self.service.show('ActiveState'):>10} {self.peak_mib:5.0f}"
        print(f"{int(day)} {day % 1 * 24:02.0f}h  {said}  {sent:5} {waiting:7} {unit}  {_doing(day)}", flush=True)

    def _measure(self) -> None:
        unit = "system.slice/geocrawl.service"
        for place in (MEMORY / unit / "memory.max_usage_in_bytes", MEMORY.parent / unit / "memory.peak"):
            with suppress(OSError):
                read = int((self.service.container.root / str(place).lstrip("/")).read_text())
                self.peak_mib = max(self.peak_mib, read / 2**20)
        self.restarts = int(self.service.show("NRestarts"))

    def wrong(self) -> dict[str, list[str]]:
        """Return what was missed, false, doubled, and what became of the unit."""
        told = self.told()
        hosts = dict(self.rows("SELECT service_id, host FROM endpoint"))
        died = [hosts.get(each["service"]["id"], "?") for each in told if each["what"] == "died"]
        due = {f"s{n}.example" for n, (day, _) in DEATHS.items() if day + KNOWN_WITHIN < self.today()}
        may = {f"s{n}.example" for n in DEATHS}
        ids = Counter(each["id"] for each in told)
        count = Counter(died)
        down = {host for (host,) in self.rows("SELECT host FROM endpoint WHERE health IN ('down', 'gone')")}
        return {
            "missing": sorted(due - set(died)),
            "false": sorted((set(died) | down) - may) + [each["what"] for each in told if each["what"] == "returned"],
            "doubled": [f"notice {number}" for number, times in ids.items() if times > 1]
            + [f"{host} died twice" for host in may if count[host] > 1],
            "killed": [f"{self.restarts} restarts"] * (self.restarts > MOST_RESTARTS),
            "given up": [self.service.show("Result")] * (self.service.show("ActiveState") != "active"),
        }


def _doing(day: float) -> str:
    """Return what the web does on a day."""
    doing = [name for since, until, name in WAYS if since <= day < until]
    doing += ["a challenge before three"] * (FILTER[0] <= day < FILTER[1])
    doing += [f"s{number} is {how}" for number, (since, how) in DEATHS.items() if day >= since]
    return "; ".join(doing + ["dear pictures"] * (day >= DEAR_FROM))


def measure(days: float = DAYS, speed: float = SPEED, tree: Path = ROOT) -> dict[str, Any]:
    """Live through the week; return its timeline and, as "missed", what went wrong. Raises CannotBootError."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise CannotBootError("no C compiler (cc) is installed, which makes the fast clock")
    own = Path(sysconfig.get_path("purelib"))
    with machine(tree, {ROOT: _SOURCE, **({} if tree == ROOT else {own: _OWN})}) as service:
        clock, source = service.container.root / _CLOCK.lstrip("/"), Path(__file__).with_name("fast_clock.c")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(clock), str(source), "-ldl"], check=True)
        week = Week(service, time.time(), speed)
        week.begin()
        print("day hour well held blocked failing dead  told waiting restarts       unit   MiB  the web", flush=True)
        is_watched, next_look = False, 0.25
        while week.today() < days:
            time.sleep(0.2)
            if not is_watched and week.today() > 0.4:
                is_watched = True
                week.watch()
            if week.today() > next_look:
                week.look()
                next_look += 0.25
        wrong = week.wrong()
        reasons = [line for line in service.journal() if "Main process exited" in line or "Failed with result" in line]
    return {
        "days": days,
        "speed": speed,
        "load": round(os.getloadavg()[0], 1),
        "peak_mib": round(week.peak_mib),
        "restarts": week.restarts,
        "why": dict(Counter(reasons)),
        **{name: len(wrong[name]) for name in ("missing", "false", "doubled")},
        "missed": [f"{name}: {', '.join(texts)}" for name, texts in wrong.items() if texts],
    }


def main(arguments: Sequence[str]) -> int:
    """Print the timeline and the figures; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.systemd.week", description=__doc__)
    parser.add_argument("--days", type=float, default=DAYS, help="[7]")
    parser.add_argument("--speed", type=float, default=SPEED, help="seconds of the week in one of ours [300]")
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout with its .venv, to compare")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        asyncio.run(serve(options.serve))
    found = measure(options.days, options.speed, options.tree)
    print(json.dumps(found, indent=1))
    return int(bool(found["missed"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
