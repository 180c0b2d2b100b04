"""Run servers on loopback: in threads of this process, or in separate processes."""

from __future__ import annotations

import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar


class Server(ThreadingHTTPServer):
    """A server on a free port, which ignores clients that hang up."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that hang up: they were killed, or have read enough."""


class Handler(BaseHTTPRequestHandler, ABC):
    """Answers GET requests without a log."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """Head and body are two writes: the second would wait 40 ms for the first to be acknowledged."""

    def do_GET(self) -> None:
        """Answer a request."""
        self.respond()

    @abstractmethod
    def respond(self) -> None:
        """Answer a GET of `self.path`."""

    def write(self, data: bytes) -> bool:
        """Send bytes; return False when the client has gone."""
        try:
            self.wfile.write(data)
        except OSError:
            self.close_connection = True
            return False
        return True

    def reset(self) -> None:
        """Cut the connection with a TCP reset instead of answering."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


S = TypeVar("S", bound=ThreadingHTTPServer)


@contextmanager
def running(server: S) -> Iterator[S]:
    """Serve from a thread, until the end of the block."""
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def serving(command: Sequence[str]) -> Iterator[str]:
    """Run a command that prints its address on loopback and serves until SIGTERM; yields the address."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None, "asked for a pipe"
        line = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        try:
            if not found:
                raise SystemExit(f"{' '.join(command)} did not start: {line!r}")
            yield found[0]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def served_by(module: str, *arguments: str) -> AbstractContextManager[str]:
    """Serve by `python -m module`, as `serving` does."""
    return serving([sys.executable, "-m", module, *arguments])


@contextmanager
def folder_served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder; yields the address of its root, without the slash."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
