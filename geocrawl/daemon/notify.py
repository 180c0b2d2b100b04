"""Telling systemd how we are: sd_notify(3) is one datagram to a socket that it names in the environment."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping


class Notifier:
    """Sends states to the socket in $NOTIFY_SOCKET; does nothing where there is none, and never fails the daemon."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        name = environ.get("NOTIFY_SOCKET", "")
        self._address = "\0" + name[1:] if name.startswith("@") else name
        self.watchdog_s = _watchdog_s(environ)
        """Send a sign of life at least this often; 0: nobody waits for one."""

    def starting(self, text: str, seconds: float) -> None:
        """Not ready yet, and not for so long; the next sign comes before (EXTEND_TIMEOUT_USEC of sd_notify(3))."""
        self._send(f"EXTEND_TIMEOUT_USEC={round(seconds * 1e6)}\nSTATUS={_line(text)}")

    def ready(self) -> None:
        """Started: units that wait for us may start."""
        self._send("READY=1")

    def alive(self, text: str) -> None:
        """A sign of life with a line for `systemctl status`."""
        self._send(f"WATCHDOG=1\nSTATUS={_line(text)}")

    def reloading(self) -> None:
        """Reading the configuration anew; `ready` ends it. (Type=notify-reload also wants the time.)"""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={_monotonic_usec()}")

    def stopping(self, text: str) -> None:
        """Ending."""
        self._send(f"STOPPING=1\nSTATUS={_line(text)}")

    def _send(self, state: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                sender.sendto(state.encode(), self._address)
        except OSError:
            return  # the watchdog will tell


def _watchdog_s(environ: Mapping[str, str]) -> float:
    """Half of $WATCHDOG_USEC, as sd_watchdog_enabled(3) advises; 0 when it is not meant for us."""
    pid, text = environ.get("WATCHDOG_PID", ""), environ.get("WATCHDOG_USEC", "")
    if not text.isdecimal() or (pid and pid != str(os.getpid())):
        return 0.0
    return int(text) / 2e6


def _monotonic_usec() -> int:
    import time

    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
