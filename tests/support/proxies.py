"""The demo's web behind a proxy that is a process of its own, so that it can go away with its connections, or fail."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

_WEB = """
import sys
from geocrawl.demo.web import DemoWeb
with DemoWeb(port=int(sys.argv[1])) as web:
    print(web.proxy_url, flush=True)
    sys.stdin.read()
"""


class _Failing(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


def _answer(status: int) -> type[BaseHTTPRequestHandler]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "7")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b"<p>down")

        do_CONNECT = do_GET  # noqa: N815 the name that http.server calls

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    return Answer


class MortalProxy:
    """A proxy that serves the demo's web; `kill` and `start` while its context is open."""

    def __init__(self) -> None:
        self.url = ""
        self._process: subprocess.Popen[str] | None = None
        self._failing: _Failing | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start the proxy, on the former port if it had one."""
        port = self.url.rpartition(":")[2] or "0"
        command = [sys.executable, "-c", _WEB, port]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None, "it is a pipe"
        self.url = self._process.stdout.readline().strip()

    def fail(self, status: int) -> None:
        """Answer every request with this status from now on, until `recover`."""
        self.kill()
        self._failing = _Failing(("127.0.0.1", int(self.url.rpartition(":")[2])), _answer(status))
        threading.Thread(target=self._failing.serve_forever, args=(0.05,), daemon=True).start()

    def recover(self) -> None:
        """Serve the web again."""
        if self._failing is not None:
            self._failing.shutdown()
            self._failing.server_close()
            self._failing = None
        self.start()

    def kill(self) -> None:
        """Kill the proxy: nobody listens at its port any more, and its connections are reset."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
