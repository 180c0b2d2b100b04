"""Serve CSW: `python pycsw_side`, in pycsw's environment, with a line of JSON on standard input.

The process ends when its standard input is closed, so it does not outlive the one that started it.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import waitress
from pycsw import server
from pycsw.plugins import outputschemas

sys.path[0] = str(Path(__file__).resolve().parents[1])  # where this folder is a package

_MOST_QUERY_CHARS = 8_000
_MOST_BODY_BYTES = 64 * 1024
_THREADS = 4
_MOST_AT_ONCE = _THREADS // 2
"""Most requests of one client that are answered at a time; more would leave no thread to others."""
_TYPES = {
    *("application/xml", "text/xml", "application/json", "application/atom+xml", "application/soap+xml"),
    "application/opensearchdescription+xml",
}

Start = Callable[[str, list[tuple[str, str]]], object]


class _Refused(Exception):
    """A request that is not given to pycsw: status and reason."""


class _Csw(server.Csw):  # type: ignore[misc]  # untyped
    """pycsw, which sends its answers to nobody but the client."""

    def _process_responsehandler(self, xml: object) -> None:
        """Do nothing: pycsw would send the answer to an FTP or mail address of the client's choice."""


class Application:
    """Answers requests (WSGI) by pycsw, with bounds."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        """Answer as `configuration` says."""
        self._pycsw = configuration["pycsw"]
        self._hosts = configuration["hosts"]
        rates = _loaded(configuration["rates"])
        self._rates = rates.Rates(configuration["requests_per_minute"])
        self._is_bounded = configuration["requests_per_minute"] > 0
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        """Answer one request."""
        try:
            with self._turn(environ.get("REMOTE_ADDR", "")):
                self._check(environ)
                status, media_type, body = self._answer(environ)
        except _Refused as refusal:
            status, media_type, body = str(refusal), "text/plain; charset=utf-8", str(refusal).encode()
        except Exception:
            sys.stderr.write(f"geocrawl: internal error of CSW\n{traceback.format_exc()}")
            status, media_type = "500 Internal Server Error", "text/plain; charset=utf-8"
            body = b"an internal error; the operator finds it in the log"
        headers = [("Content-Type", media_type), ("Content-Length", str(len(body)))]
        if status.startswith(("429", "503")):
            headers.append(("Retry-After", "2"))
        start(status, [*headers, ("X-Content-Type-Options", "nosniff")])
        return [body]

    @contextmanager
    def _turn(self, address: str) -> Iterator[None]:
        """Count a request of a client in this context. Raises _Refused when there are too many."""
        with self._lock:
            client = self._rates.client(address, time.monotonic())
            if self._rates.wait_s(client):
                raise _Refused("429 Too Many Requests")
            if self._is_bounded and client.at_once >= _MOST_AT_ONCE:
                raise _Refused("503 Service Unavailable: a client has two requests answered at a time; try again")
            client.at_once += 1
        try:
            yield
        finally:
            with self._lock:
                client.at_once -= 1

    def _check(self, environ: dict[str, Any]) -> None:
        host = environ.get("HTTP_HOST", "")
        name = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
        if self._hosts and name.lower() not in self._hosts:
            raise _Refused("421 Misdirected Request")
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD", "POST"):
            raise _Refused("405 Method Not Allowed")
        if len(environ.get("QUERY_STRING", "")) > _MOST_QUERY_CHARS:
            raise _Refused("414 URI Too Long")
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        if b"responsehandler" in body.lower() or "responsehandler" in environ.get("QUERY_STRING", "").lower():
            raise _Refused("400 Bad Request: ResponseHandler is not supported")
        if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
            raise _Refused("400 Bad Request: a request has no document type")

    def _answer(self, environ: dict[str, Any]) -> tuple[str, str, bytes]:
        csw = _Csw(self._pycsw, environ)
        try:
            status, body = csw.dispatch_wsgi()
        finally:
            if hasattr(csw, "repository"):
                csw.repository.close()
        media_type = str(csw.contenttype)
        known = media_type.partition(";")[0].strip() in _TYPES
        return status, media_type if known and media_type.isprintable() else "application/xml; charset=UTF-8", body


def _loaded(file: str) -> ModuleType:
    """Return a module of geocrawl that imports the standard library alone, by its file."""
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert spec is not None and spec.loader is not None, "a Python file"
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def _end_with_starter() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)


def main() -> None:
    """Serve until standard input is closed."""
    configuration = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_starter, daemon=True).start()
    outputschemas.__all__.remove("dif")  # pycsw 2.6.2 advertises it, and fails to write it
    logging.getLogger("pycsw").setLevel(logging.CRITICAL + 1)  # it logs a trace for each wrong request
    from pycsw_side.iso import mend_records
    from pycsw_side.repository import Repository

    mend_records()
    fold, sanitize = _loaded(configuration["fold"]), _loaded(configuration["sanitize"])
    Repository.set_up(
        Path(configuration["database"]), fold.spellings, lambda text: sanitize.plain(sanitize.masked(text))
    )
    waitress.serve(
        Application(configuration),
        host=configuration["host"],
        port=configuration["port"],
        threads=_THREADS,
        ident="",
        connection_limit=900,
        channel_timeout=30,
        cleanup_interval=10,
        max_request_body_size=_MOST_BODY_BYTES,
        max_request_header_size=16 * 1024,
        clear_untrusted_proxy_headers=True,
        _quiet=True,
    )


if __name__ == "__main__":
    main()
