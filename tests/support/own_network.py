"""A network of our own for the process of a test, in namespaces of Linux (`unshare`).

Its loopback interface may bear further addresses, and its resolver asks a name server of the test. No packet leaves the
machine.
"""

from __future__ import annotations

import fcntl
import shutil
import socket
import struct
import subprocess
from pathlib import Path

UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--mount", "--")
"""The beginning of a command that runs in such namespaces."""
LOOPBACK = "127.0.0.1"


def available() -> bool:
    """Whether this machine lets us have a network of our own."""
    if shutil.which("unshare") is None:
        return False
    tried = [*UNSHARE, "mount", "--bind", "/etc/hosts", "/etc/resolv.conf"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def bring_up(*addresses: str) -> None:
    """Let the loopback interface of these namespaces run and bear more addresses (netdevice(7))."""
    set_address, get_flags, set_flags, up = 0x8916, 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = fcntl.ioctl(control, get_flags, struct.pack("16sH22x", b"lo", 0))
        flags = struct.unpack("16sH22x", request)[1]
        fcntl.ioctl(control, set_flags, struct.pack("16sH22x", b"lo", flags | up))
        for number, address in enumerate(addresses):
            name = f"lo:{number}".encode()
            packed = struct.pack("16sHH4s16x", name, socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, set_address, packed)


def ask_own_name_server(folder: Path) -> None:
    """Let the resolver of these namespaces ask the name server on loopback, port 53."""
    file = folder / "resolv.conf"
    file.write_text(f"nameserver {LOOPBACK}\noptions timeout:2 attempts:1\n")
    subprocess.run(["mount", "--bind", str(file), "/etc/resolv.conf"], check=True)
