"""A real systemd as the first process of a container: this machine's own system beneath a layer that is thrown away.

systemd-nspawn boots `/` of this machine, read-only beneath an overlay in memory, with a network of its own that has
loopback only. The mounts live in a mount namespace of their own and the processes in a control group of their own, so
nothing is left when it has ended. It needs root, systemd-nspawn (Debian: systemd-container), overlayfs and cgroup2.
Where the machine counts memory in the older hierarchy (cgroup1), the container has that, too: MemoryMax holds.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.processes import Run, run

BOOT_S = 240.0
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MEMORY = Path("/sys/fs/cgroup/memory")
"""The older hierarchy of memory (cgroups(7), version 1), here and in the container."""
PROGRAMS = ("systemd-nspawn", "nsenter", "unshare", "setpriv")

_LAUNCH = """
set -e
for group in $GROUPS_OF_CONTAINER; do echo $$ >"$group/cgroup.procs"; done
mount -t tmpfs -o mode=0755 tmpfs "$PLACE"
mkdir -m 0755 "$PLACE/upper" "$PLACE/work" "$PLACE/root"
cp -a "$FILES/." "$PLACE/upper"
mount -t overlay overlay -o "lowerdir=/,upperdir=$PLACE/upper,workdir=$PLACE/work" "$PLACE/root"
exec setpriv --pdeathsig TERM systemd-nspawn --quiet --directory="$PLACE/root" --boot --register=no --keep-unit \
  --private-network --link-journal=no --console=passive "$@" systemd.unit=basic.target
"""


class CannotBootError(Exception):
    """There is no container here; says why."""


class Container:
    """A booted one."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self.root = Path(f"/proc/{leader}/root")
        """Its files, as root of this machine reads and writes them."""

    def run(self, *command: str, user: str = "", limit_s: float = 240.0, **environ: str) -> Run:
        """Run a command inside as root, or as this user with his groups; nothing of our environment goes with it."""
        enter = ["nsenter", f"--target={self._leader}", "--all"]
        clean = [
            "env",
            "-i",
            "--chdir=/",
            f"PATH={PATH}",
            f"HOME={f'/home/{user}' if user else '/root'}",
            "LANG=C.UTF-8",
        ]
        given = [f"{name}={value}" for name, value in environ.items()]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        return run([*enter, *clean, *given, *become, *command], limit_s=limit_s)

    def say(self, *command: str, user: str = "", limit_s: float = 240.0) -> str:
        """What a command prints that must not fail; raises RuntimeError with its last words when it does."""
        done = self.run(*command, user=user, limit_s=limit_s)
        if done.exit_code != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {done.exit_code}: {done.stderr[-2000:]}")
        return done.stdout


def cannot_boot() -> str:
    """Why no container can be booted here; empty when one can, as far as can be told without trying."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root on Linux can boot a container"
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (Debian: systemd-container and util-linux)"
    return "" if _own_group() is not None else "no cgroup2 is mounted here"


@contextmanager
def booted(files: Path, binds: Mapping[Path, str]) -> Iterator[Container]:
    """A container with the files of this folder over its own and these folders (ours: theirs) for it to read.

    Raises CannotBootError with what systemd-nspawn said.
    """
    own, reason = _own_group(), cannot_boot()
    if reason or own is None:
        raise CannotBootError(reason)
    counted = [place for place in (MEMORY,) if place.is_dir()]
    with tempfile.TemporaryDirectory(prefix="geocrawl-container-") as name:
        folder = Path(name)
        groups = [place / folder.name for place in (own, *counted)]
        try:
            for group in groups:
                group.mkdir()
        except OSError as error:
            raise CannotBootError(f"{group}: {error.strerror}") from None
        process = _launch(folder, groups, files, binds)
        try:
            container = _wait_until_up(process, folder / "console")
            for place in counted:  # systemd-nspawn has it read-only
                container.say("mount", "-o", "remount,bind,rw", str(place))
                container.say("systemctl", "daemon-reexec")
            try:
                yield container
            finally:
                container.run("systemctl", "poweroff", limit_s=120)
        finally:
            _end(process, groups)


def _own_group() -> Path | None:
    """This process's control group in the unified hierarchy, as a folder."""
    mounts = [line.split(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    places = [Path(before.split()[4]) for before, after in mounts if after.startswith("cgroup2 ")]
    groups = [line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
    if not places or not groups:
        return None
    return places[0] / groups[0].lstrip("/")


def _launch(folder: Path, groups: Sequence[Path], files: Path, binds: Mapping[Path, str]) -> subprocess.Popen[bytes]:
    place = folder / "place"
    place.mkdir()
    environ = {
        **os.environ,
        "GROUPS_OF_CONTAINER": " ".join(map(str, groups)),
        "PLACE": str(place),
        "FILES": str(files),
    }
    if len(groups) == 1:
        environ["SYSTEMD_NSPAWN_UNIFIED_HIERARCHY"] = "1"
    options = [f"--machine={folder.name.replace('_', '-').rstrip('-')}"]
    options += [f"--bind-ro={ours}:{theirs}" for ours, theirs in binds.items()]
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _LAUNCH, "sh", *options]
    with (folder / "console").open("wb") as console:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=environ, start_new_session=True
        )


def _wait_until_up(process: subprocess.Popen[bytes], console: Path) -> Container:
    end = time.monotonic() + BOOT_S
    while process.poll() is None and time.monotonic() < end:
        leader = _leader(process.pid)
        if leader is not None:
            container = Container(leader)
            state = container.run("systemctl", "is-system-running").stdout.strip()
            if state in ("running", "degraded"):
                return container
        time.sleep(0.1)
    raise CannotBootError(f"no systemd boots here: {' '.join(console.read_text('utf-8', 'replace').split())[-1000:]}")


def _leader(nspawn: int) -> int | None:
    """The child of systemd-nspawn that has become the container's systemd, as this machine counts processes."""
    with suppress(OSError):
        for child in Path(f"/proc/{nspawn}/task/{nspawn}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return int(child)
    return None


def _end(process: subprocess.Popen[bytes], groups: Sequence[Path]) -> None:
    """Wait for the power to be off, else take it away; then the empty control groups go."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(120)
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait(120)
    for group in groups:
        for below in (*sorted(group.rglob("*/"), reverse=True), group):
            with suppress(OSError):
                below.rmdir()
