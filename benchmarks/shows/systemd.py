"""Run the service under a real systemd in a container: time to readiness, restarts after faults, enforced limits."""

from __future__ import annotations

import argparse
import json
from typing import Any

from benchmarks import machine
from geocrawl.demo.content import SEEDS, build_content
from tests.support.container import CannotBootError
from tests.support.systemd_service import CONFIGURATION, DB, HOME, MEMBER, Service
from tests.support.systemd_service import machine as booted_machine

RESTART_S, WATCHDOG_S = 15, 60
"""What the unit says; the options shorten them."""
START_S, LOCKED_S = 10, 25
"""While the database is locked for longer than the time that a start may take."""


def main(arguments: list[str]) -> None:
    """Boot, install, crawl, kill, freeze, stop; write d_systemd.json. SystemExit where no systemd can be booted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows systemd", description=__doc__)
    parser.add_argument("--watchdog", type=int, default=WATCHDOG_S, metavar="S", help=f"WatchdogSec [{WATCHDOG_S}]")
    parser.add_argument("--restart", type=int, default=RESTART_S, metavar="S", help=f"RestartSec [{RESTART_S}]")
    options = parser.parse_args(arguments)
    try:
        with booted_machine() as service:
            figures = _tried(service, options.watchdog, options.restart)
    except CannotBootError as reason:
        raise SystemExit(str(reason)) from None
    print(json.dumps(figures, ensure_ascii=False, indent=1))
    print(machine.write("d_systemd", figures))


def _tried(service: Service, watchdog_s: int, restart_s: int) -> dict[str, Any]:
    say = service.container.say
    say(f"{HOME}/bin/geocrawl", "service", "install")
    service.configure(CONFIGURATION)
    say(f"{HOME}/bin/geocrawl", "seeds", "add", *SEEDS)
    say("usermod", "--append", "--groups=geocrawl", MEMBER)
    service.drop_in(f"[Service]\nWatchdogSec={watchdog_s}\nRestartSec={restart_s}\n")
    expected = build_content().expected_valid
    return {
        "systemd": say("systemctl", "--version").split("\n")[0],
        "container": "systemd-nspawn, the machine's own system under an overlay",
        "unit": {"WatchdogSec": watchdog_s, "RestartSec": restart_s},
        "verify_exit_code": service.container.run("systemd-analyze", "verify", "geocrawl.service").exit_code,
        "exposure": service.exposure(),
        "ready_s": service.start(),
        "services": {
            "of": len(expected),
            "all_found_s": service.wait_for(lambda: service.valid() >= expected, "the demo's services"),
        },
        "enforced": service.enforced(),
        "member_exit_codes": service.member_codes(),
        "frozen": _hit(service, "STOP"),
        "killed": _hit(service, "KILL"),
        "stop_s": service.stop(),
        "member_exit_codes_stopped": service.member_codes(),
        "start_while_locked": _locked(service),
        "broken_configuration": _broken(service),
    }


def _hit(service: Service, signal: str) -> dict[str, Any]:
    """From the signal to another process that is ready, with what systemd said."""
    lines = len(service.journal())
    seconds = service.hit(signal, limit_s=240)
    return {
        "signal": f"SIG{signal}",
        "ready_again_s": seconds,
        "restarts": int(service.show("NRestarts")),
        "lease_taken_over": service.status()["daemon"]["pid"] == int(service.main_pid()),
        "journal": [line for line in service.journal()[lines:] if line.startswith(("geocrawl.service:", "Start"))],
    }


def _locked(service: Service) -> dict[str, Any]:
    """A start that takes longer than systemd would wait, had it not been told that it is worth it."""
    service.drop_in(f"[Service]\nTimeoutStartSec={START_S}\n")
    lock = f"import sqlite3, time; c = sqlite3.connect('{DB}'); c.execute('BEGIN EXCLUSIVE'); time.sleep({LOCKED_S})"
    service.container.say("systemd-run", "--quiet", "--unit=lock", f"{HOME}/bin/python", "-c", lock)
    seconds = service.start()
    return {"locked_s": LOCKED_S, "TimeoutStartSec": START_S, "ready_s": seconds, "state": service.show("ActiveState")}


def _broken(service: Service) -> dict[str, Any]:
    service.configure(CONFIGURATION + "pages_per_day = 'many'\n")
    service.systemctl("restart", "geocrawl")
    found = {"exit_code": int(service.show("ExecMainStatus")), "state": service.show("ActiveState")}
    return {**found, "said": service.journal()[-4:]}
