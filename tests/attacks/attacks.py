"""Attacks on a crawl, each in a process of its own: what stopped it, seconds, memory beside that of a small page."""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.attacks import rebinding
from tests.attacks.attackers import SECRET, Attacker, attacker
from tests.support import own_network
from tests.support.processes import Run, clean_environment, geocrawl, run

DIRECT, CRAWL, PROBE, REBIND = "direct", "page", "service", "name"
LIMIT_S = 600


@dataclass(frozen=True, slots=True)
class Attack:
    """What is asked, how, and the limit that is to stop it.

    Endless hosts may cost more than `max_hosts_per_site`: which names are kept is decided by the names, among those
    seen so far, so `cap` of them are kept of the first `cap`, and fewer and fewer of those that follow.
    """

    name: str
    address: str
    limit: str
    how: str = CRAWL
    may_ask: int | None = None
    """Requests that the attacked path may cost at most."""


GUARDED = {
    "loopback": "http://127.0.0.1:{port}",
    "decimal address": "http://2130706433:{port}",
    "octal address": "http://0177.0.0.01:{port}",
    "hexadecimal address": "http://0x7f.1:{port}",
    "0.0.0.0": "http://0.0.0.0:{port}",
    "IPv6 loopback": "http://[::1]:{port}",
    "IPv4 mapped into IPv6": "http://[::ffff:7f00:1]:{port}",
    "a name of private networks": "http://localhost:{port}",
    "metadata service": "http://169.254.169.254",
}
ATTACKS = (
    Attack("(a small page)", "/small", "none"),
    *(Attack(name, origin + SECRET, "address guard", DIRECT, 0) for name, origin in GUARDED.items()),
    *(Attack(name, f"http://{rebinding.NAME}/", "address guard", REBIND) for name in rebinding.FLIPS),
    Attack("redirect to loopback", "/to-loopback", "address guard", may_ask=1),
    Attack("redirects without end", "/loop/0", "max_redirects", may_ask=6),
    *(Attack(f"{name} bomb of 512 MiB", f"/{name.replace(' ', '-')}", "ratio") for name in ("gzip", "br", "zstd")),
    Attack("gzip in gzip", "/gzip-twice", "ratio"),
    Attack("gzip bomb as capabilities", "/gzip", "ratio", PROBE),
    Attack("endless body", "/endless", "page_body_bytes"),
    Attack("slow drip", "/drip", "total_timeout_s"),
    Attack("header flood", "/headers", "header_bytes"),
    Attack("10 MB in one line", "/one-line-10mb", "page_body_bytes"),
    Attack("5 MB in one line", "/one-line", "none: read"),
    Attack("300,000 links on a page", "/links", "none: read", may_ask=1),
    Attack("a million nested elements", "/deep-html", "none: read"),
    Attack("nested lists of open links", "/deep-lists", "none: read"),
    Attack("1.6 million nested XML elements", "/deep-xml", "none: read"),
    Attack("the same as capabilities", "/deep-xml", "none: read", PROBE),
    Attack("500,000 attributes", "/attributes-html", "none: read"),
    Attack("450,000 XML attributes", "/attributes-xml", "none: read", PROBE),
    Attack("billion laughs", "/laughs", "entities are not expanded", PROBE),
    Attack("billion laughs as a page", "/laughs", "entities are not expanded"),
    Attack("quadratic entities", "/quadratic", "entities are not expanded", PROBE),
    Attack("external entities", "/external", "nothing is fetched", PROBE),
    Attack("external DTD", "/dtd", "nothing is fetched", PROBE),
    Attack("image bomb in a map", "/image-wms", "MAX_PIXELS", PROBE),
    Attack("brackets without end", "/brackets", "none: read"),
    Attack("beginnings of addresses", "/equals", "none: read"),
    Attack("white space without end", "/spaces", "none: read"),
    Attack("white space in a refresh", "/refresh", "bounded before patterns"),
    Attack("the same as JSON", "/spaces-json", "none: read", PROBE),
    Attack("SQL, terminal and log injection", "/evil-title", "plain text, bound values"),
    # Twice the budget of 300: as many pages are read late, when nothing else waits.
    Attack("calendar", "/calendar/0", "max_fruitless_per_pattern", may_ask=602),
    Attack("session ids", "/sessions/0", "max_fruitless_per_pattern", may_ask=602),
    Attack("facets", "/facets/0", "max_fruitless_per_pattern", may_ask=602),
    Attack("path loops", "/loops/", "three equal segments", may_ask=100),
    Attack("endless hosts", "/hosts/", "max_hosts_per_site (set to 200)", may_ask=700),
    Attack("services without end", "/services/0", "max_alike_services (set to 50)", may_ask=700),
)


def measure(only: str = "") -> list[dict[str, Any]]:
    """Return a row for each attack: what ended it, its costs, the requests it caused, whether all stay in bounds."""
    chosen = [attack for attack in ATTACKS if only in attack.name]
    if not own_network.available():
        print("names that change their address: left out, this machine gives no namespaces", file=sys.stderr)
        chosen = [attack for attack in chosen if attack.how != REBIND]
    with tempfile.TemporaryDirectory(prefix="geocrawl-attacks-") as folder, attacker() as server:
        return [_row(attack, server, Path(folder) / str(number)) for number, attack in enumerate(chosen)]


def _row(attack: Attack, server: Attacker, home: Path) -> dict[str, Any]:
    if attack.how == REBIND:
        return _rebinding_row(attack)
    home.mkdir()
    server.asked.clear()
    done = run(_command(attack, server.server_port, home), env=_environment(home), limit_s=LIMIT_S)
    asked = sum(count for path, count in server.asked.items() if path != "/robots.txt")
    leaked = server.asked["/" + SECRET.split("/")[1]]
    unharmed = done.exit_code in (0, 1) and "Traceback" not in done.stderr and "\x1b" not in done.stdout + done.stderr
    held = unharmed and not leaked and (attack.may_ask is None or asked <= attack.may_ask) and _is_whole(home / "c.db")
    return {
        "attack": attack.name,
        "asked_as": attack.how,
        "limit": attack.limit,
        "ended_by": _ended_by(attack, done, home / "c.db"),
        "wall_s": done.wall_s,
        "cpu_s": done.cpu_s,
        "peak_mib": done.peak_mib,
        "asked": asked,
        "held": held,
    }


def _rebinding_row(attack: Attack) -> dict[str, Any]:
    """Return the row of an attack by name.

    In bounds: each crawl looked the name up, read the public web if the name leads there at first, and connected to no
    private address.
    """
    found = rebinding.attack(attack.name)
    leads_out = rebinding.PUBLIC in rebinding.FLIPS[attack.name][0]
    asked = sum(found["public_asked"].values())
    reasons = {reason for reason in found["reasons"].values() if reason != "ok"}
    return {
        "attack": attack.name,
        "asked_as": attack.how,
        "limit": attack.limit,
        "ended_by": ", ".join(sorted(reasons)),
        "wall_s": found["wall_s"],
        "cpu_s": found["cpu_s"],
        "peak_mib": found["peak_mib"],
        "asked": asked,
        "held": found["looked_up"] >= len(found["exit_codes"])
        and (asked > 2 if leads_out else not asked)
        and not found["private_connections"]
        and "Trace" not in found["stderr"],
    }


def _command(attack: Attack, port: int, home: Path) -> list[str]:
    address = attack.address.format(port=port)
    proxy = ("--proxy", f"http://127.0.0.1:{port}")
    if attack.how == PROBE:
        return geocrawl("probe", f"http://bad.example{address}", "--json", "--delay", "0", *proxy)
    options = ("--db", str(home / "c.db"), "--strategy", "bfs", "--delay", "0", "--json", "--max-pages", "5000")
    if attack.how == DIRECT:
        return geocrawl("crawl", address, *options)
    one_page = attack.name.endswith("links on a page")
    depth = "0" if one_page else "100"
    return geocrawl("crawl", f"http://bad.example{address}", *options, *proxy, "--max-depth", depth)


def _environment(home: Path) -> dict[str, str]:
    limits = {"TOTAL_TIMEOUT": "5s", "MAX_HOSTS_PER_SITE": "200", "MAX_ALIKE_SERVICES": "50", "SIBLINGS": "0"}
    return clean_environment(home, **{f"GEOCRAWL_{name}": value for name, value in limits.items()})


def _ended_by(attack: Attack, done: Run, path: Path) -> str:
    if attack.how == PROBE:
        line = json.loads(done.stdout.splitlines()[0])
        outcomes = {each["outcome"] for each in line.get("proof") or ()}
        return ", ".join([line["reason"], *sorted(outcomes)])
    with sqlite3.connect(path) as connection:
        refused = "SELECT substr(name, 9) FROM counter WHERE name LIKE 'refused:%' AND value > 0 ORDER BY value DESC"
        reasons = [row[0] for row in connection.execute(refused)]
        reasons += [row[0] for row in connection.execute("SELECT DISTINCT reason FROM url WHERE state = 'failed'")]
    return ", ".join(reasons[:2]) or "its end"


def _is_whole(path: Path) -> bool:
    if not path.exists():
        return True
    with sqlite3.connect(path) as connection:
        found: tuple[str, int] = connection.execute(
            "SELECT (SELECT * FROM pragma_quick_check), (SELECT count(*) FROM url)"
        ).fetchone()
    return found[0] == "ok" and found[1] > 0
