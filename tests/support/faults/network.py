"""Short absences of the network and of DNS that a daemon on the demo's web is put through: a row each.

The web is a process of its own that is killed: connections that are kept alive would go on answering otherwise.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geocrawl.demo.content import SEEDS
from geocrawl.demo.web import DemoWeb
from tests.support.daemons import Daemon, Place, wait_for
from tests.support.faults.row import Row, under_way

_SLOWLY = ("--delay", "1", "--workers", "2")
"""The demo lasts longer than the outage."""
_BEFORE = 60
"""Settled before the strike: more than five hosts have answered by then."""
_LONGEST_S = 120.0
_IN_VAIN = "('dns', 'proxy', 'refused', 'robots-unreachable', 'reset')"
_WEB = """
import sys
from geocrawl.demo.web import DemoWeb
with DemoWeb(port=int(sys.argv[1])) as web:
    print(web.proxy_url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def _web(port: int = 0) -> Iterator[str]:
    """The address of the demo's proxy; at the end its process and all its connections are gone."""
    command = [sys.executable, "-c", _WEB, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None, "it is a pipe"
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def network_away(folder: Path, seconds: float) -> Row:
    """The proxy is gone with all connections, and back on the same port."""
    place = Place(folder)
    place.command("seeds", "add", *SEEDS)
    with _web() as proxy:
        running = place.daemon("--proxy", proxy, *_SLOWLY)
        daemon = running.__enter__()
        before = under_way(place, _BEFORE)
    try:
        began = time.time()
        time.sleep(seconds)
        with _web(int(proxy.rpartition(":")[2])):
            recovered = _recovers(place, daemon)
            ended = daemon.end()
    finally:
        running.__exit__(None, None, None)
    return Row(
        "the network is away",
        f"the proxy and its connections are gone for {seconds:g} s",
        len(before - place.settled()),
        recovered,
        {"exit_code": ended, **_left(place, daemon, began)},
    )


_RESOLVER = """
import os, socket
_real = socket.getaddrinfo
def getaddrinfo(host, port, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else host
    if not name or not name.endswith(".example"):
        return _real(host, port, *rest, **more)
    if os.path.exists(os.environ["NAMES_DOWN"]):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", int(os.environ["WEB_PORT"])))]
socket.getaddrinfo = getaddrinfo
"""
"""The resolver of the daemon's process: a web on one port of this machine, and a switch."""


def names_down(folder: Path, seconds: float) -> Row:
    """No name can be looked up, for a while; connections that are open go on."""
    place, switch = Place(folder), folder / "names-down"
    (folder / "sitecustomize.py").write_text(_RESOLVER)
    with DemoWeb() as web:
        place.start_pages(web)
        environ = {
            "PYTHONPATH": str(folder),
            "NAMES_DOWN": str(switch),
            "WEB_PORT": web.proxy_url.rpartition(":")[2],
        }
        with place.daemon("--allow-private", *_SLOWLY, **environ) as daemon:
            before = under_way(place)
            began = time.time()
            switch.touch()
            time.sleep(seconds)
            failed = int(place.number("SELECT count(*) FROM url WHERE reason = 'dns'"))
            switch.unlink()
            recovered = _recovers(place, daemon)
            ended = daemon.end()
    return Row(
        "DNS is down",
        f"look-ups fail (EAI_AGAIN) for {seconds:g} s",
        len(before - place.settled()),
        recovered,
        {"addresses_that_failed": failed, "exit_code": ended, **_left(place, daemon, began)},
    )


def _recovers(place: Place, daemon: Daemon) -> float:
    """Seconds until the next answer."""
    now = time.time()
    answered = "SELECT count(*) FROM url WHERE settled_at > ? AND http_status IS NOT NULL"
    seconds = wait_for(lambda: place.number(answered, now), "an answer after the fault", _LONGEST_S)
    if daemon.process.poll() is not None:
        raise SystemExit(daemon.log())
    return seconds


def _left(place: Place, daemon: Daemon, began: float) -> dict[str, Any]:
    """What is left of the outage: addresses that will not be tried again, and what histories of services show."""
    gone = f"SELECT count(*) FROM url WHERE state = 'failed' AND retry_at IS NULL AND reason IN {_IN_VAIN}"
    probes = f"SELECT count(*) FROM probe WHERE at >= ? AND reason IN {_IN_VAIN}"
    return {
        "noticed": daemon.says("the network seems to be away"),
        "given_up": int(place.number(gone)),
        "traces_in_the_history_of_services": int(place.number(probes, began)),
    }
