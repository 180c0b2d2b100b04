"""Check by access logs how a crawl behaves as a guest.

Hosts redirect their robots.txt to one victim, cut connections or ask to slow down, while one of two processes is
stopped by SIGTERM and started again and the other one is in a PID namespace of its own; then hundreds of names lead to
one address, with the bound on requests to an address and without it.
"""

from __future__ import annotations

import argparse

from benchmarks import machine
from tests.support import guest_crawl


def main(arguments: list[str]) -> None:
    """Crawl, print the figures, write f_guest.json; SystemExit where a crawl was a bad guest."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows sturdy_guest", description=__doc__)
    parser.add_argument("--strangers", type=int, default=60, help="hosts whose robots.txt leads to the victim")
    parser.add_argument("--hosts", type=int, default=6, help="hosts of each other sort")
    parser.add_argument("--names", type=int, default=500, help="host names on one address")
    parser.add_argument("--workers", type=int, default=50, help="in all")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    if not guest_crawl.can_unshare():
        raise SystemExit("this machine gives us no namespaces (unshare --user --pid)")
    guest = guest_crawl.measure_two_namespaces(options.strangers, options.hosts, options.workers // 2)
    print(f"{'hosts':<10}{'requests':>9}{'pages':>7}{'smallest gap s':>16}")
    for row in guest["hosts"]:
        print(f"{row['sort']:<10}{row['requests']:>9}{row['pages']:>7}{row['smallest_gap_s']:>16}")
    print({name: value for name, value in guest.items() if name != "hosts"})
    names = [
        guest_crawl.measure_names_on_one_address(options.names, options.workers, bounded=bounded)
        for bounded in (True, False)
    ]
    print(*names, sep="\n")
    if not options.no_write:
        print(machine.write("f_guest", {"two_namespaces": guest, "names_on_one_address": names}))
    bad = {name: guest[name] for name in ("gaps_below_the_delay", "forbidden_requests", "asked_before_retry_after")}
    if any(bad.values()) or max(each["most_at_once_a_host"] for each in (guest, *names)) > 1:
        raise SystemExit(f"a bad guest: {bad}, {guest['most_at_once_a_host']} requests at once")
