"""geocrawl as a service of a booted container: installed for all users, with the demo's web on its loopback.

The interpreter is the system's own of the same version, for the one that runs the tests may lie in a closed folder;
the libraries are those of this environment, bound into the container; the package is laid out as its wheel has it.
"""

from __future__ import annotations

import compileall
import json
import shutil
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geocrawl.demo.web import build_content
from tests.support.places import ROOT
from tests.support.processes import Run
from tests.systemd.container import CannotBootError, Container, booted

HOME = "/opt/geocrawl"
GEOCRAWL = f"{HOME}/bin/geocrawl"
DB = "/var/lib/geocrawl/geocrawl.db"
CONFIG = "etc/geocrawl/config.toml"
MEMBER, STRANGER = "alice", "mallory"
LIMIT_S = 240.0
MASKED = ("systemd-networkd-wait-online.service", "NetworkManager-wait-online.service", "timers.target")
"""There is no network to wait for, and what the machine itself does from time to time is not the container's."""

CONFIGURATION = f'''db = "{DB}"
allow_private = true
delay = 0.0
requests_per_ip = 0
contact = "admin@localhost"
reading_in_loop = 1
'''
"""The demo's hosts stand in the container's /etc/hosts, at 127.0.0.1: private addresses, and ours. All answers but
images are read in reading processes, so these have to work within the unit's limits."""

_LAUNCHER = """#!{python}
import sys
from geocrawl.cli import main
if __name__ == "__main__":
    sys.exit(main())
"""

_VALID = f"""import sqlite3
rows = sqlite3.connect("file:{DB}?mode=ro", uri=True).execute("SELECT key FROM endpoint WHERE status = 'valid'")
print(*(key for key, in rows), sep="\\n")
"""

_DEMO_WEB = """from contextlib import ExitStack
from threading import Event
from geocrawl.demo import DemoWeb
with ExitStack() as webs:
    for port in {ports}:
        webs.enter_context(DemoWeb(port=port))
    Event().wait()
"""


class Service:
    """The unit in its container."""

    def __init__(self, container: Container) -> None:
        self.container = container

    def geocrawl(self, *arguments: str, user: str = "") -> Run:
        """A command of geocrawl, as people type it."""
        return self.container.run(GEOCRAWL, *arguments, user=user)

    def systemctl(self, *arguments: str, limit_s: float = LIMIT_S) -> Run:
        """`systemctl …`."""
        return self.container.run("systemctl", *arguments, limit_s=limit_s)

    def show(self, name: str) -> str:
        """A property of the unit."""
        return self.container.say("systemctl", "show", "geocrawl", f"--property={name}", "--value").strip()

    def journal(self, *options: str) -> list[str]:
        """The unit's lines, systemd's own words on it among them, oldest first."""
        return self.container.say("journalctl", "--unit=geocrawl", "--output=cat", *options).splitlines()

    def configure(self, text: str) -> None:
        """Write the configuration file."""
        (self.container.root / CONFIG).write_text(text)

    def drop_in(self, text: str) -> None:
        """Change the unit as an operator does; an empty text takes the change away."""
        folder = self.container.root / "etc/systemd/system/geocrawl.service.d"
        folder.mkdir(exist_ok=True)
        (folder / "test.conf").write_text(text)
        self.container.say("systemctl", "daemon-reload")

    def count(self, text: str) -> int:
        """How many of its lines hold this text."""
        return sum(text in line for line in self.journal())

    def status(self) -> dict[str, Any]:
        """`geocrawl status --json`."""
        found: dict[str, Any] = json.loads(self.container.say(GEOCRAWL, "status", "--json"))
        return found

    def valid(self) -> set[str]:
        """Keys of the valid endpoints in the catalogue, read beside the daemon."""
        return set(self.container.say(f"{HOME}/bin/python", "-c", _VALID).split())

    def member_codes(self) -> dict[str, int]:
        """Exit codes of what a member of the group does without sudo."""
        commands = (("status",), ("search", "Norvale"), ("export",), ("pause",), ("resume",), ("seeds", "list"))
        return {command[0]: self.geocrawl(*command, user=MEMBER).exit_code for command in commands}

    def exposure(self) -> float:
        """The exposure level of `systemd-analyze security`, 0 (none) to 10."""
        text = self.container.say("systemd-analyze", "security", "--no-pager", "geocrawl")
        return float(text.partition("Overall exposure level for geocrawl.service: ")[2].split()[0])

    def enforced(self) -> dict[str, bool]:
        """What of the unit has an effect on the running process, as the kernel tells it."""
        proc = self.container.root / "proc" / self.main_pid()
        state = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines())
        mounts = {line.split()[4]: line for line in (proc / "mountinfo").read_text().splitlines()}
        return {
            "no capabilities": not any(int(state[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")),
            "NoNewPrivileges": state["NoNewPrivs"] == "1",
            "SystemCallFilter": state["Seccomp"] == "2",
            "UMask": state["Umask"] == "0007",
            "ProtectSystem": mounts["/"].split()[5].startswith("ro,"),
            "ProtectHome": all("/host/inaccessible/" in mounts.get(f"/{name}", "") for name in ("root", "home")),
            "ProtectProc": "hidepid=invisible" in mounts["/proc"],
            "MemoryMax": self.show("MemoryCurrent").isdecimal(),
            "TasksMax": self.show("TasksCurrent").isdecimal(),
            "IPAddressDeny": self._denies_addresses(),
        }

    def _denies_addresses(self) -> bool:
        """Whether a unit that is denied loopback cannot reach the demo's web there."""
        connect = "import socket; socket.create_connection(('127.0.0.1', 80), 2)"
        program = (
            "systemd-run",
            "--quiet",
            "--wait",
            "--property=IPAddressDeny={}",
            f"{HOME}/bin/python",
            "-c",
            connect,
        )
        free, denied = (
            self.container.run(*(word.format(addresses) for word in program)).exit_code
            for addresses in ("", "localhost")
        )
        return free == 0 != denied

    def main_pid(self) -> str:
        """The main process, as the container counts."""
        return self.show("MainPID")

    def start(self) -> float:
        """Start the service, also after a failure; return the seconds until it was ready."""
        self.systemctl("reset-failed", "geocrawl")  # it also forgets how often it was started of late
        begun = time.monotonic()
        self.container.say("systemctl", "restart", "geocrawl")
        return round(time.monotonic() - begun, 2)

    def hit(self, signal: str, limit_s: float = LIMIT_S) -> float:
        """Send a signal to the main process; seconds until systemd has brought up another one that is ready."""
        before = int(self.show("NRestarts"))
        self.container.say("kill", f"--signal={signal}", self.main_pid())
        return self.wait_for(
            lambda: int(self.show("NRestarts")) > before and self.show("ActiveState") == "active",
            f"another process after {signal}",
            limit_s,
        )

    def stop(self) -> float:
        """Stop it; seconds until it had ended."""
        begun = time.monotonic()
        self.container.say("systemctl", "stop", "geocrawl")
        return round(time.monotonic() - begun, 2)

    def wait_for(self, condition: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> float:
        """Return the seconds until the condition was true; RuntimeError with the journal's end when it never is."""
        begun = time.monotonic()
        while not condition():
            if time.monotonic() - begun > limit_s:
                raise RuntimeError("\n".join([f"{what}: not within {limit_s:.0f} s", *self.journal()[-30:]]))
            time.sleep(0.2)
        return round(time.monotonic() - begun, 2)


@contextmanager
def machine(tree: Path = ROOT, binds: Mapping[Path, str] | None = None) -> Iterator[Service]:
    """A booted container in which geocrawl could be installed as a service, with an ordinary user and the demo's web.

    `tree`: a checkout with its environment, whose geocrawl it is; `binds`: more folders (ours: theirs) to read. Raises
    CannotBootError where there can be none.
    """
    with tempfile.TemporaryDirectory(prefix="geocrawl-files-") as name:
        files = Path(name)
        files.chmod(0o755)  # it becomes the container's /
        _lay_out(files, _python(), tree)
        own = Path(sysconfig.get_path("purelib"))
        libraries = own if tree == ROOT else tree / ".venv" / own.relative_to(sys.prefix)
        with booted(files, {libraries: f"{HOME}/packages", **(binds or {})}) as container:
            for user in (MEMBER, STRANGER):
                container.say("useradd", "--create-home", "--user-group", user)
            container.say("systemd-run", "--quiet", "--unit=demo-web", f"{HOME}/bin/python", f"{HOME}/demo_web.py")
            yield Service(container)


def _python() -> str:
    """An interpreter that every user may run, of the version that the libraries were installed for."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = shutil.which(name, path="/usr/local/bin:/usr/bin")
    if found is None:
        raise CannotBootError(f"no {name} in /usr/local/bin or /usr/bin, that other users could run")
    return found


def _lay_out(files: Path, python: str, tree: Path) -> None:
    """A virtual environment in /opt, and what names the demo's hosts."""
    hosts = sorted(build_content().hosts)
    names, ports = {host.partition(":")[0] for host in hosts}, {host.partition(":")[2] or "80" for host in hosts}
    home = files / HOME.lstrip("/")
    packages = home / "lib" / Path(python).name / "site-packages"
    masks = files / "etc/systemd/system"
    for folder in (packages, home / "bin", masks):
        folder.mkdir(parents=True, exist_ok=True)
    for unit in MASKED:
        (masks / unit).symlink_to("/dev/null")
    (files / "etc/machine-id").write_text(f"{uuid.uuid4().hex}\n")
    (files / "etc/hosts").write_text(f"127.0.0.1 localhost {' '.join(sorted(names))}\n")
    (home / "pyvenv.cfg").write_text(f"home = {Path(python).parent}\ninclude-system-site-packages = false\n")
    (home / "bin/python").symlink_to(python)
    (packages / "libraries.pth").write_text(f"{HOME}/packages\n")
    _install(tree, packages / "geocrawl")
    (home / "demo_web.py").write_text(_DEMO_WEB.format(ports=sorted(map(int, ports))))
    launcher = home / "bin/geocrawl"
    launcher.write_text(_LAUNCHER.format(python=f"{HOME}/bin/python"))
    launcher.chmod(0o755)


def _install(tree: Path, package: Path) -> None:
    """As the wheel does (pyproject.toml), compiled as pip does."""
    shutil.copytree(tree / "geocrawl", package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("seeds", "systemd"):
        shutil.copytree(tree / folder, package / "data" / folder)
    compileall.compile_dir(package, quiet=2, stripdir=package.parent)
