"""A member of the service's group works with the catalogue without being root, as the unit's modes make it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.parts import READABLE_PYTHON, ROOT_USER, lack

pytestmark = pytest.mark.machine

SERVICE, MEMBER, STRANGER, GROUP = 64011, 64012, 64013, 64010
"""Numbers that no account has."""


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}


def can_run(home: Path) -> bool:
    """Whether another user can run geocrawl where it is installed."""
    command = [sys.executable, "-c", "import geocrawl"]
    try:
        done = subprocess.run(command, env=environment(home), user=MEMBER, group=GROUP, extra_groups=[], check=False)
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture
def state() -> Iterator[Path]:
    """A state directory as systemd makes it: owned by the account, StateDirectoryMode=2770."""
    if os.geteuid() != 0:
        lack(ROOT_USER)
    with tempfile.TemporaryDirectory(prefix="geocrawl-group-") as name:
        top = Path(name)
        top.chmod(0o755)
        folder = top / "state"
        folder.mkdir()
        os.chown(folder, SERVICE, GROUP)
        folder.chmod(0o2770)
        if not can_run(top):
            lack(READABLE_PYTHON)
        yield folder


def test_status_search_export_and_pause_need_no_root(state: Path) -> None:
    db, home = state / "geocrawl.db", state.parent
    geocrawl = [sys.executable, "-m", "geocrawl"]

    def run(user: int, *command: str, group: int = GROUP) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*geocrawl, *command, "--db", str(db)],
            env=environment(home),
            user=user,
            group=group,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    daemon = subprocess.Popen(
        [*geocrawl, "daemon", "--db", str(db)],
        env=environment(home),
        stderr=subprocess.DEVNULL,
        user=SERVICE,
        group=GROUP,
        extra_groups=[],
        umask=0o007,
    )
    try:
        end = time.monotonic() + 300
        while run(MEMBER, "status").returncode != 0:
            assert time.monotonic() < end, "the daemon does not start"
            time.sleep(0.5)
        assert "running" in run(MEMBER, "status").stdout
        assert run(MEMBER, "export").returncode == 0
        assert run(MEMBER, "search", "water").returncode == 1, "nothing is in it"
        assert "within a few seconds" in run(MEMBER, "pause").stdout
        stranger = run(STRANGER, "status", group=STRANGER)
        assert stranger.returncode == 3 and "Traceback" not in stranger.stderr
    finally:
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(300) == 0
    assert "not running; paused" in run(MEMBER, "status").stdout, "and with the daemon down"
    assert run(MEMBER, "resume").returncode == 0
