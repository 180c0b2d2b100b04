"""Report the daemon's state to systemd: sd_notify(3) is one datagram to the socket that $NOTIFY_SOCKET names."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping


class Notifier:
    """Sends states to the socket in $NOTIFY_SOCKET. Does nothing without a socket, and never raises."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        name = environ.get("NOTIFY_SOCKET", "")
        self._address = "\0" + name[1:] if name.startswith("@") else name
        self.watchdog_s = _watchdog_s(environ)
        """How often to call `alive` at least; 0: systemd expects no sign of life."""

    def starting(self, text: str, seconds: float) -> None:
        """Report that the start lasts longer and another message follows within `seconds` (EXTEND_TIMEOUT_USEC)."""
        self._send(f"EXTEND_TIMEOUT_USEC={round(seconds * 1e6)}\nSTATUS={_line(text)}")

    def ready(self) -> None:
        """Report that the daemon has started, so that units that wait for it may start."""
        self._send("READY=1")

    def alive(self, text: str) -> None:
        """Reset systemd's watchdog, with a line for `systemctl status`."""
        self._send(f"WATCHDOG=1\nSTATUS={_line(text)}")

    def reloading(self) -> None:
        """Report that the configuration is read again, until `ready`. (Type=notify-reload needs the time, too.)"""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={_monotonic_usec()}")

    def stopping(self, text: str) -> None:
        """Report that the daemon is ending."""
        self._send(f"STOPPING=1\nSTATUS={_line(text)}")

    def _send(self, state: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                sender.sendto(state.encode(), self._address)
        except OSError:
            return  # systemd's watchdog will notice


def _watchdog_s(environ: Mapping[str, str]) -> float:
    """Return half of $WATCHDOG_USEC, as sd_watchdog_enabled(3) advises; 0 when it is meant for another process."""
    pid, text = environ.get("WATCHDOG_PID", ""), environ.get("WATCHDOG_USEC", "")
    if not text.isdecimal() or (pid and pid != str(os.getpid())):
        return 0.0
    return int(text) / 2e6


def _monotonic_usec() -> int:
    import time

    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
