"""Harvest a CSW on 127.0.0.1 that gives no position beyond a window, and kill it: records, requests, time, memory."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

_FIRST, _SPAN_S = dt.datetime(2012, 1, 1), 14 * 365 * 86400
_HEAD = (
    '<?xml version="1.0"?><csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/"><csw:SearchResults '
    'numberOfRecordsMatched="{}" numberOfRecordsReturned="{}" nextRecord="{}">{}</csw:SearchResults>'
    "</csw:GetRecordsResponse>"
)
_RECORD = (
    "<csw:Record><dc:identifier>{0:08x}</dc:identifier><dct:references>http://127.0.0.1/{0}.zip</dct:references>"
    "</csw:Record>"
)
_REFUSAL = "<?xml version='1.0'?><ows:ExceptionReport xmlns:ows='http://www.opengis.net/ows'/>"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the catalogue, its window, and when the harvest is killed."""
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--window", type=int, default=10_000)
    parser.add_argument("--kills", type=float, nargs="*", default=[20.0, 20.0], help="seconds after which it is killed")


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Return what harvests until the last end needed; goals: all records, memory below 400 MiB."""
    server = _serve(options.records, options.window)
    begun, parts, code = time.monotonic(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.db"
        for killed_after in [*options.kills, None]:
            address = f"http://127.0.0.1:{server.server_port}/csw?service=CSW&request=GetCapabilities"
            command = [sys.executable, "-m", "geocrawl", "harvest", address, "--db", str(path), "--allow-private"]
            part_begun = time.monotonic()
            harvest = subprocess.Popen([*command, "--delay", "0", "--json"], stdout=subprocess.PIPE, text=True)
            try:
                harvest.wait(killed_after)
            except subprocess.TimeoutExpired:
                os.kill(harvest.pid, signal.SIGKILL)
                harvest.wait()
            code = harvest.returncode
            parts.append(round(time.monotonic() - part_begun, 1))
        with sqlite3.connect(path) as connection:
            stated, read, state = connection.execute("SELECT stated, read, state FROM source").fetchone()
            (slices,) = connection.execute("SELECT count(*) FROM source_list WHERE slice != ''").fetchone()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    server.shutdown()
    missed = [f"{read} of {stated} records read"] if read < options.records or code else []
    missed += [f"memory {peak} MiB"] if peak > 400 else []
    return {
        **{"records": read, "stated": stated, "state": state, "requests": server.asked, "slices": slices},
        **{"kills": len(options.kills), "seconds": round(time.monotonic() - begun, 1), "parts_s": parts},
        **{"peak_mib": peak, "missed": missed},
    }


class _Server(ThreadingHTTPServer):
    """Serves a catalogue, and counts the requests for records."""

    asked = 0


def _serve(records: int, window: int) -> _Server:
    """Start the catalogue: records of dates spread evenly over 14 years, one in 50 without a date."""
    undated = records // 50
    step = _SPAN_S / (records - undated)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            values = {name.lower(): each[0] for name, each in parse_qs(urlsplit(self.path).query).items()}
            is_records = values.get("request") == "GetRecords"
            server.asked += is_records
            body = (page(values) if is_records else _REFUSAL).encode()
            self.send_response(404 if "robots.txt" in self.path else 200)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    def page(values: dict[str, str]) -> str:
        start, rows, constraint = int(values["startposition"]), int(values["maxrecords"]), values.get("constraint", "")
        first, end = 0, records
        if "PropertyIsNull" in constraint:
            end = undated
        elif spans := re.findall(r"<ogc:Literal>([\d-]+T[\d:]+)Z<", constraint):
            first, end = (undated + number(each) for each in spans)
        if start + rows - 1 > window:
            return _REFUSAL
        found = range(first, end)[start - 1 : start - 1 + rows]
        following = start + rows if start + rows <= end - first else 0
        return _HEAD.format(max(end - first, 0), len(found), following, "".join(map(_RECORD.format, found)))

    def number(moment: str) -> int:
        """Return how many dated records are older than a moment."""
        seconds = (dt.datetime.fromisoformat(moment) - _FIRST).total_seconds()
        return min(max(-int(-seconds // step), 0), records - undated)

    server = _Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
