"""Backup, restore, monitoring, and the systemd service, as commands."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import tomllib
from pathlib import Path

import pytest

from geocrawl.app.findings import Severity, check_settings
from geocrawl.cli import daemon
from geocrawl.cli.daemon import command_line, files
from geocrawl.cli.options import shipped
from geocrawl.config.names import settings_by_name
from geocrawl.config.show import example
from geocrawl.errors import EnvironmentFault
from tests.support import forked
from tests.support.parts import SYSTEMD_ANALYZE, lack
from tests.support.processes import clean_environment

pytestmark = pytest.mark.machine

ROOT = Path(__file__).parent.parent.parent


def command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return forked.geocrawl(arguments, env=clean_environment(home))


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "c.db"
    assert command(tmp_path, "seeds", "add", "https://www.example.org/", "--db", str(path)).returncode == 0
    return path


def test_a_backup_can_be_restored_and_the_former_database_is_kept(tmp_path: Path, catalogue: Path) -> None:
    copy = tmp_path / "backup" / "c.db"
    copy.parent.mkdir()
    assert command(tmp_path, "backup", str(copy), "--db", str(catalogue)).returncode == 0
    command(tmp_path, "seeds", "add", "https://later.example.org/", "--db", str(catalogue))
    done = command(tmp_path, "restore", str(copy), "--db", str(catalogue))
    assert done.returncode == 0 and "before-restore" in done.stdout
    seeds = json.loads(command(tmp_path, "seeds", "list", "--json", "--db", str(catalogue)).stdout)
    assert [seed["url"] for seed in seeds] == ["https://www.example.org/"]
    with sqlite3.connect(tmp_path / "c.db.before-restore") as kept:
        assert kept.execute("SELECT count(*) FROM seed").fetchone() == (2,)


def test_a_backup_is_consistent_while_somebody_writes(tmp_path: Path, catalogue: Path) -> None:
    writer = sqlite3.connect(catalogue)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE seed SET title = 'half done'")
    assert command(tmp_path, "backup", str(tmp_path / "b.db"), "--db", str(catalogue)).returncode == 0
    writer.rollback()
    writer.close()
    with sqlite3.connect(tmp_path / "b.db") as copy:
        assert copy.execute("SELECT title FROM seed").fetchone() == ("",)


@pytest.mark.parametrize("damage", ["text", "cut", "foreign"])
def test_a_damaged_copy_is_refused_and_the_database_stays(tmp_path: Path, catalogue: Path, damage: str) -> None:
    copy = tmp_path / "b.db"
    command(tmp_path, "backup", str(copy), "--db", str(catalogue))
    if damage == "text":
        copy.write_text("no database")
    elif damage == "cut":
        copy.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])
    else:
        copy.unlink()
        with sqlite3.connect(copy) as other:
            other.execute("CREATE TABLE t (x)")
    done = command(tmp_path, "restore", str(copy), "--db", str(catalogue))
    assert done.returncode == 3 and str(copy) in done.stderr and "Traceback" not in done.stderr
    assert command(tmp_path, "seeds", "list", "--db", str(catalogue)).returncode == 0


def test_monitoring_is_told_in_its_own_words(tmp_path: Path, catalogue: Path) -> None:
    done = command(tmp_path, "check", "--db", str(catalogue))
    assert (done.returncode, done.stdout.startswith("GEOCRAWL CRITICAL - daemon: not running: ")) == (2, True)
    missing = command(tmp_path, "check", "--db", str(tmp_path / "nothing.db"))
    assert missing.returncode == 3 and missing.stdout.startswith("GEOCRAWL UNKNOWN - ")


def test_metrics_are_in_the_text_format_of_prometheus(tmp_path: Path, catalogue: Path) -> None:
    out = tmp_path / "geocrawl.prom"
    assert command(tmp_path, "metrics", "--out", str(out), "--db", str(catalogue)).returncode == 0
    lines = out.read_text().splitlines()
    assert "geocrawl_up 0" in lines and 'geocrawl_pages{state="waiting"} 0' in lines
    sample = re.compile(r'geocrawl_[a-z_]+(?:\{[a-z]+="[^"\\\n]*"\})? -?\d+\Z')
    assert all(line.startswith("# ") or sample.match(line) for line in lines)
    named = {
        match[1] for match in re.finditer(r"geocrawl_([a-z_]+)", (ROOT / "geocrawl/data/grafana.json").read_text())
    }
    assert named <= {line.split()[2].removeprefix("geocrawl_") for line in lines if line.startswith("# TYPE")}


# --------------------------------------------------------------------------- systemd


def _is_valid(file: Path) -> bool:
    return [finding.severity for finding in check_settings({}, {}, file.parent, [file])[0]] == [Severity.OK]


def test_the_example_configuration_names_every_setting_and_is_well_formed(tmp_path: Path) -> None:
    text = example()
    file = tmp_path / "config.toml"
    file.write_text(text)
    assert _is_valid(file) and tomllib.loads(text) == {}
    file.write_text(re.sub(r'^#(?=[a-z"\[])', "", text, flags=re.MULTILINE))
    assert _is_valid(file)
    named = set(re.findall(r"^#([a-z_]+) = ", text, flags=re.MULTILINE))
    assert named >= {name for name, setting in settings_by_name().items() if setting.takes != "table"}


def test_installing_writes_what_uninstalling_removes_and_keeps_the_configuration(tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert command(tmp_path, "service", "install", "--root", str(root), "--dry-run").returncode == 0
    assert not root.exists()
    assert command(tmp_path, "service", "install", "--root", str(root)).returncode == 0
    unit = (root / "etc/systemd/system/geocrawl.service").read_text()
    assert "@" not in re.search(r"ExecStart=(.*)", unit)[1]  # type: ignore[index]  # the unit has one
    config = root / "etc/geocrawl/config.toml"
    config.write_text("workers = 3\n")
    assert "kept" in command(tmp_path, "service", "install", "--root", str(root)).stdout
    assert command(tmp_path, "service", "uninstall", "--root", str(root)).returncode == 0
    assert [path for path in root.rglob("*") if path.is_file()] == [config]


@pytest.mark.parametrize("folder", ["home/someone", "root", "tmp", "opt/of_root_alone"])
def test_a_program_that_the_unit_does_not_see_is_not_installed(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / folder / "bin" / "geocrawl"
    program.parent.mkdir(parents=True)
    closed = tmp_path / folder if folder.startswith("opt") else tmp_path / folder.partition("/")[0]
    if folder.startswith("opt"):
        closed.chmod(0o700)
    hidden = tuple(tmp_path / each for each in ("home", "root", "tmp"))
    monkeypatch.setattr(daemon, "_HIDDEN_BY_UNIT", hidden)
    monkeypatch.setattr(daemon, "program", lambda: (str(program),))
    with pytest.raises(EnvironmentFault, match=f"{closed} is closed to it"):
        daemon.install(dry_run=True)


def test_the_folder_of_units_is_the_one_of_the_checkout_or_the_wheel() -> None:
    assert (shipped("systemd", "systemd") / "geocrawl.service").is_file() and len(files()) == 4


@pytest.mark.parametrize("name", ["a b", "100%", "%h", 'q"q', "back\\slash", "$HOME", "it's", "tür", "a;b"])
def test_systemd_finds_the_program_under_any_path(tmp_path: Path, name: str) -> None:
    if shutil.which("systemd-analyze") is None:
        lack(SYSTEMD_ANALYZE)
    program = tmp_path / name / "geocrawl"
    program.parent.mkdir()
    shutil.copy(shutil.which("true") or "", program)
    unit = tmp_path / "geocrawl.service"
    unit.write_text(f"[Service]\nExecStart={command_line((str(program),))} daemon --db /var/lib/geocrawl/geocrawl.db\n")
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "geocrawl" in line]) == (0, [])
    started = re.search(r"ExecStart=(?:/usr/bin/env )?(.*) daemon", unit.read_text())
    assert started is not None
    written = started[1].strip('"').replace("%%", "%").replace("$$", "$").replace('\\"', '"').replace("\\\\", "\\")
    assert Path(written) == program


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    if shutil.which("systemd-analyze") is None:
        lack(SYSTEMD_ANALYZE)
    path = tmp_path / "geocrawl.service"
    path.write_text(
        (shipped("systemd", "systemd") / "geocrawl.service")
        .read_text()
        .replace("@GEOCRAWL@", shutil.which("true") or "")
    )
    return path


def test_systemd_finds_nothing_wrong_with_the_unit(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "geocrawl" in line]) == (0, [])


def test_the_unit_leaves_an_attacker_little(unit: Path) -> None:
    command_line = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:]
