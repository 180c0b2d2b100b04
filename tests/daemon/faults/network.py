"""Short absences of the network and of DNS that a daemon on the demo's web is put through: a row each."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from geocrawl.demo.content import SEEDS
from geocrawl.demo.web import DemoWeb
from tests.daemon.faults.row import Row, under_way
from tests.support.daemons import Daemon, Place, wait_for
from tests.support.proxies import MortalProxy

_SLOWLY = ("--delay", "1", "--workers", "2")
"""The demo lasts longer than the outage."""
_BEFORE = 25
"""Settled before the strike."""
_LONGEST_S = 300.0
_IN_VAIN = "('dns', 'proxy', 'refused', 'robots-unreachable', 'reset')"


def network_away(folder: Path, seconds: float) -> Row:
    """The proxy is gone with all connections, and back on the same port."""
    place = Place(folder)
    place.command("seeds", "add", *SEEDS)
    with MortalProxy() as proxy, place.daemon("--proxy", proxy.url, *_SLOWLY) as daemon:
        before = under_way(place, _BEFORE)
        began = time.time()
        proxy.kill()
        time.sleep(seconds)
        failed = _failed(place, began)
        proxy.start()
        recovered = _recovers(place, daemon)
        ended = daemon.end()
    return Row(
        "the network is down",
        f"the proxy and its connections are gone for {seconds:g} s",
        len(before - place.settled()),
        recovered,
        {"addresses_that_failed": failed, "exit_code": ended, **_left(place, daemon, began)},
    )


_RESOLVER = """
import asyncio, os, socket
_real, _connect = socket.getaddrinfo, asyncio.SelectorEventLoop.sock_connect
def getaddrinfo(host, port, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else host
    if not name or not name.endswith(".example"):
        return _real(host, port, *rest, **more)
    if os.path.exists(os.environ["NAMES_DOWN"]):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]
async def sock_connect(loop, sock, address):
    if address[0] == "127.0.0.1":
        address = ("127.0.0.1", int(os.environ["WEB_PORT"]))
    await _connect(loop, sock, address)
socket.getaddrinfo, asyncio.SelectorEventLoop.sock_connect = getaddrinfo, sock_connect
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
            "GEOCRAWL_REQUESTS_PER_IP": "0",  # all names lead to one address
            "GEOCRAWL_ECONOMY": "0",  # new hosts are visited meanwhile, so that names are looked up
        }
        with place.daemon("--allow-private", "--delay", "1", "--workers", "8", **environ) as daemon:
            before = under_way(place)
            began = time.time()
            switch.touch()
            time.sleep(seconds)
            failed = _failed(place, began)
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


def _failed(place: Place, began: float) -> int:
    """How many addresses failed since then."""
    return int(place.number(f"SELECT count(*) FROM url WHERE reason IN {_IN_VAIN} AND settled_at >= ?", began))


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
        "noticed": daemon.says("nothing is recorded as failed"),
        "given_up": int(place.number(gone)),
        "traces_in_the_history_of_services": int(place.number(probes, began)),
    }
