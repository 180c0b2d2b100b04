"""A service dies and a search finds a new one: a webhook, a mail and a file are told, once each.

Everything runs by the commands that people use (`geocrawl watch add`, `watch send`), against a web server and a mail
server on loopback.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.model import Kind, Layer, Service
from tests.support import processes
from tests.support.receivers import Hook, MailServer, mail_server, webhook
from tests.support.world import World, candidate, verdict

KEY = "key of the show"
ROUNDS = 3
_ROADS = Service(
    kind=Kind.WMS,
    version="1.3.0",
    title="Roads",
    layers=(Layer("roads", "Roads"), Layer("rails", "Rails")),
    fingerprint="f1",
)


def main(arguments: list[str]) -> None:
    """Write i_told.json. SystemExit when a receiver was not told exactly once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows told", description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-told-") as name, webhook() as hook, mail_server() as mails:
        figures = _told(Path(name), hook, mails)
    print("   " + ", ".join(f"{what} {value}" for what, value in figures.items()))
    if not options.no_write:
        print(machine.write("i_told", figures))
    if not figures["once_each"]:
        raise SystemExit("a receiver was not told exactly once")


def _told(folder: Path, hook: Hook, mails: MailServer) -> dict[str, Any]:
    """Return what each receiver got, after `ROUNDS` rounds of `watch send`."""
    db, journal = folder / "crawl.db", folder / "notices.jsonl"
    _settle(db, "a.example/wms", _ROADS)
    environment = {**os.environ, "GEOCRAWL_MAIL_SERVER": mails.address, "GEOCRAWL_MAIL_SECURITY": "none"}

    def run(*words: str) -> str:
        done = processes.run(processes.geocrawl("watch", *words, "--db", str(db)), env=environment)
        if done.exit_code:
            raise SystemExit(done.stderr)
        return done.stdout

    run("add", "1", "--to", hook.address, "--secret", KEY, "--allow-private")
    run("add", "kind:wms", "--to", "mail:anna@example.org")
    run("add", "1", "--to", f"file:{journal}")
    _settle(db, "a.example/wms", replace(_ROADS, layers=_ROADS.layers[:1], fingerprint="f2"))
    _settle(db, "a.example/wms", None, times=4)
    _settle(db, "b.example/wms", replace(_ROADS, title="Rivers", fingerprint="f3"))
    said = [run("send", "--allow-private").strip() for _ in range(ROUNDS)]
    signed = [
        hmac.compare_digest(headers["geocrawl-signature"], _signature(body)) for _, headers, body in hook.received
    ]
    in_hook = [[each["what"] for each in json.loads(body)["notices"]] for _, _, body in hook.received]
    in_file = [json.loads(line)["notices"] for line in journal.read_text("utf-8").splitlines()]
    return {
        "rounds": said,
        "webhook": in_hook,
        "webhook_signed": signed,
        "mail": [mail["Subject"] for _, mail in mails.received],
        "file": [[each["what"] for each in notices] for notices in in_file],
        "once_each": [len(hook.received), len(mails.received), len(in_file)] == [1, 1, 1] and signed == [True],
    }


def _signature(body: bytes) -> str:
    return "sha256=" + hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest()


def _settle(db: Path, at: str, service: Service | None, *, times: int = 1) -> None:
    """Record verdicts as a crawl settles them: valid with a service, a timeout without one."""
    world = World(db)
    world.clock.time = time.time()
    for _ in range(times):
        said = verdict("ok", service) if service else verdict("timeout-read")
        world.record(candidate(at), said, world.clock.now())
    world.store.close()
