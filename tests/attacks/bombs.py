"""Decompression bombs and an endless slow body, fetched by geocrawl: memory and time beside those of a small page."""

from __future__ import annotations

import json
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import brotli
import zstandard

from tests.support.loopback import Handler, Server, running
from tests.support.processes import clean_environment, geocrawl, run

MIB = 2**20
PAGE = b"<!DOCTYPE html><title>A small page</title><p>Nothing but text."
CASES = ("small page", "gzip", "br", "zstd", "gzip twice", "endless slow body", "endless fast body")
PROBED = ("gzip", "br", "zstd")


def measure(unpacked_mib: int) -> dict[str, Any]:
    """Figures of each case as a page, and of the bombs as a capabilities document; `more_mib` than the small page."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-bombs-") as temporary, served(unpacked_mib) as base:
        pages = [_as_page(base, case, Path(temporary), unpacked_mib) for case in CASES]
        probes = [_as_probe(base, case, Path(temporary), unpacked_mib) for case in PROBED]
    small = float(pages[0]["peak_mib"])
    rows = [{**row, "more_mib": round(row["peak_mib"] - small, 1)} for row in pages + probes]
    return {"unpacked_mib": unpacked_mib, "cases": rows}


def _as_page(base: str, case: str, home: Path, unpacked_mib: int) -> dict[str, Any]:
    db = home / f"{case}.db"
    how = ("--strategy", "bfs", "--allow-private", "--delay", "0", "--json", "--quiet")
    command = geocrawl("crawl", base + _path(case), "--db", str(db), *how)
    done = run(command, env=clean_environment(home), limit_s=600)
    summary = json.loads(done.stdout)
    ended_by = ", ".join(summary["reasons"]) or "its end"
    return _row(case, "page", unpacked_mib, done.wall_s, done.cpu_s, done.peak_mib, ended_by)


def _as_probe(base: str, case: str, home: Path, unpacked_mib: int) -> dict[str, Any]:
    command = geocrawl("probe", base + _path(case), "--json", "--allow-private", "--delay", "0")
    done = run(command, env=clean_environment(home), limit_s=600)
    ended_by = str(json.loads(done.stdout.splitlines()[0])["reason"])
    return _row(case, "probe", unpacked_mib, done.wall_s, done.cpu_s, done.peak_mib, ended_by)


def _row(
    case: str, asked_as: str, unpacked_mib: int, wall_s: float, cpu_s: float, peak_mib: float, ended_by: str
) -> dict[str, Any]:
    sent_kib = round(len(bomb(case, unpacked_mib)) / 1024, 1) if case in ENCODINGS else None
    costs = {"wall_s": wall_s, "cpu_s": cpu_s, "peak_mib": peak_mib}
    return {"case": case, "asked_as": asked_as, "sent_kib": sent_kib or "-", **costs, "ended_by": ended_by}


def _path(case: str) -> str:
    return case.replace(" ", "-")


# --------------------------------------------------------------------------- the server


ENCODINGS = {"gzip": "gzip", "br": "br", "zstd": "zstd", "gzip twice": "gzip, gzip"}


@lru_cache
def bomb(case: str, unpacked_mib: int) -> bytes:
    """So many MiB of spaces, compressed."""
    if case == "gzip twice":
        packer = zlib.compressobj(9, wbits=31)
        return packer.compress(bomb("gzip", unpacked_mib)) + packer.flush()
    compress, finish = _compressor(case)
    chunk = b" " * MIB
    return b"".join(compress(chunk) for _ in range(unpacked_mib)) + finish()


def _compressor(case: str) -> tuple[Callable[[bytes], bytes], Callable[[], bytes]]:
    if case == "br":
        encoder = brotli.Compressor(quality=9, lgwin=24)
        return encoder.process, encoder.finish
    if case == "zstd":
        packer = zstandard.ZstdCompressor(level=9).compressobj()
        return packer.compress, packer.flush
    deflater = zlib.compressobj(9, wbits=31)
    return deflater.compress, deflater.flush


@contextmanager
def served(unpacked_mib: int) -> Iterator[str]:
    """A server on loopback with a path for each case; yields its address."""
    for case in ENCODINGS:
        bomb(case, unpacked_mib)

    class Bombs(Handler):
        def respond(self) -> None:
            case = self.path[1:].partition("?")[0].replace("-", " ")
            if case not in CASES:
                self.send_error(404)
            elif case.startswith("endless"):
                self._endless(pause_s=0.25 if "slow" in case else 0.0)
            else:
                self._send(PAGE if case == "small page" else bomb(case, unpacked_mib), ENCODINGS.get(case))

        def _send(self, body: bytes, encoding: str | None) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            if encoding:
                self.send_header("Content-Encoding", encoding)
            self.end_headers()
            self.write(body)

        def _endless(self, pause_s: float) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            while self.write(b"<p>more" if pause_s else b" " * 65536):
                time.sleep(pause_s)

    with running(Server(Bombs)) as server:
        yield f"http://127.0.0.1:{server.server_port}/"
