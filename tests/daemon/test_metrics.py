"""The file for Prometheus that the daemon writes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from geocrawl.daemon.metrics import MetricsFile
from geocrawl.demo.web import DemoWeb
from geocrawl.model import Kind, Service
from geocrawl.settings import Settings
from geocrawl.store import Connection
from geocrawl.store.upkeep.watches import Watches
from tests.daemon.test_daemon import configured, daemon, wait_for
from tests.support.commands import geocrawl
from tests.support.parts import PROMTOOL, lack
from tests.support.world import World, candidate, verdict

pytestmark = pytest.mark.machine

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    return World(tmp_path / "m.db").store.connection


def test_the_daemon_writes_it_at_its_start_and_its_end(tmp_path: Path) -> None:
    out = tmp_path / "geocrawl.prom"
    configured(tmp_path, f'metrics_file = "{out}"\n')
    with DemoWeb() as web, daemon(tmp_path, web) as running:
        wait_for(out.is_file, "the file")
        assert "\ngeocrawl_up 1\n" in out.read_text()
        assert out.stat().st_mode & 0o777 == 0o644
        assert running.end() == 0
    text = out.read_text()
    assert "\ngeocrawl_up 0\n" in text
    panels = json.loads((ROOT / "geocrawl/data/grafana.json").read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    named = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    assert asked and all(any(name in expression for name in named) for expression in asked)
    assert [path for path in tmp_path.iterdir() if ".part" in path.name] == []


def test_one_that_cannot_be_written_is_said_once_and_so_is_its_end(tmp_path: Path, connection: Connection) -> None:
    said: list[tuple[str, object]] = []
    folder = tmp_path / "missing"
    file = MetricsFile(str(folder / "a.prom"), 0, lambda event, **values: said.append((event, values["error"])))
    for _ in range(3):
        file.write(connection, 1e9)
    assert [event for event, _ in said] == ["metrics are not written"] and str(folder) in str(said[0][1])
    folder.mkdir()
    for _ in range(2):
        file.write(connection, 1e9)
    assert [event for event, _ in said[1:]] == ["metrics are written again"]
    assert "geocrawl_services 0" in (folder / "a.prom").read_text()


def test_services_that_are_asked_at_an_interval_are_up_or_down_by_number(tmp_path: Path) -> None:
    world, out = World(tmp_path / "w.db"), tmp_path / "a.prom"
    for name in ("well", "dead", "else"):
        found = verdict(service=Service(Kind.WMS, "1.3.0", name, fingerprint=name))
        world.record(candidate(f"{name}.example/wms"), found, world.clock.time)
    for number in (1, 2):
        settings = Settings()
        Watches(world.database).add(number, "", "", lambda query: (), 0.0, every_s=300.0, settings=settings)
    world.database.connection.execute("UPDATE endpoint SET health = 'down' WHERE service_id = 2")
    MetricsFile(str(out), 0, print).write(world.store.connection, 1e9)
    said = [line for line in out.read_text().splitlines() if line.startswith("geocrawl_watched_up{")]
    assert said == ['geocrawl_watched_up{service="1"} 1', 'geocrawl_watched_up{service="2"} 0']


def test_a_daemon_goes_on_without_it(tmp_path: Path) -> None:
    configured(tmp_path, f'metrics_file = "{tmp_path}"\n')  # a folder
    with DemoWeb() as web, daemon(tmp_path, web) as running:
        wait_for(lambda: "metrics are not written" in running.log(), "a word about the file")
        assert running.process.poll() is None and running.end() == 0
    assert running.log().count("metrics are not written") == 1 and os.access(tmp_path, os.W_OK)


def test_without_the_setting_there_is_none(tmp_path: Path, connection: Connection) -> None:
    MetricsFile("", 0, print).write(connection, 1e9)
    assert list(tmp_path.glob("*.prom")) == []


def test_the_rules_for_alerts_ask_for_metrics_that_are_written(tmp_path: Path) -> None:
    World(tmp_path / "m.db")
    written = set(re.findall(r"^# TYPE (\w+)", geocrawl("metrics", "--db", str(tmp_path / "m.db")).out, re.MULTILINE))
    asked = set(re.findall(r"\bgeocrawl_\w+", geocrawl("metrics", "--alerts").out))
    assert {"geocrawl_up", "geocrawl_finding"} <= asked <= written


def test_prometheus_takes_the_rules_and_raises_the_alerts(tmp_path: Path) -> None:
    promtool = shutil.which("promtool") or lack(PROMTOOL)
    (tmp_path / "rules.yml").write_text(geocrawl("metrics", "--alerts").out, "utf-8")
    (tmp_path / "test.yml").write_text(_ALERTS, "utf-8")
    for command in (["check", "rules", "rules.yml"], ["test", "rules", "test.yml"]):
        done = subprocess.run([promtool, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


_ALERTS = """
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: geocrawl_up, values: "1x10 0x60"}
      - {series: 'geocrawl_health{state="alive"}', values: "90x100"}
    alert_rule_test:
      - {eval_time: 9m, alertname: GeocrawlDown}
      - {eval_time: 18m, alertname: GeocrawlDown}
      - eval_time: 25m
        alertname: GeocrawlDown
        exp_alerts:
          - exp_labels: {severity: critical}
            exp_annotations:
              summary: The daemon of geocrawl on  does not run.
              description: "`systemctl status geocrawl` and `geocrawl doctor` say why."
      - {eval_time: 25m, alertname: GeocrawlServicesDie}
"""
