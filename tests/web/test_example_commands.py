"""Each command line of the documentation runs on the demo's catalogue and says what its page promises.

`NOT_RUN` has the others, with the reason. Hosts of the demo's web stand for those that the documentation names.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from geocrawl.demo import DemoWeb
from geocrawl.demo.services import _GEOSERVER as GEOSERVER
from geocrawl.demo.web import SEEDS
from tests.cli.test_watch_import import made_database
from tests.support.commands import geocrawl
from tests.support.examples import PAGES, example_lines
from tests.support.places import ROOT

NOT_RUN: Mapping[str, str] = {
    "(daemon|serve|mcp)( |$)|demo --serve|status --watch": "until Ctrl-C: tests/acceptance, tests/web/assistants",
    "service ": "changes the machine: tests/systemd/test_operating.py",
    "harvest https://data.*": "the demo has no CKAN: tests/app/test_families.py",
    "crawl .* --browser": "needs Chromium: tests/browser/test_portals.py",
    "world |evaluate ": "minutes of CPU: tests/lab run them on smaller webs",
    "mine ": "needs files of an archive: tests/mining/test_engines.py",
    ".*postgresql://": "needs a server: tests/store/database/test_postgres.py",
}
STAND_INS: Mapping[str, str] = {
    r"https://maps\.example\.org/wms": "http://gis.uni-norvale.example/glacier/wms",
    r"https://maps\.example\.org/ows": f"{GEOSERVER}/ows",
    r"(?<= )maps\.example\.org": "gis.uni-norvale.example",
    r"https://\S*/csw": "http://kart.fjordholm.example/metadata/csw",
    r"https://www\.example\.org/geodata/": SEEDS[0],
    r"/var/lib/geocrawl/|/srv/backup/": "",
    r"(?<=metrics --out )FILE": "geocrawl.prom",
    r"(?<= )FILE": "copy.db",
    r"(?<=--proxy )\S+": "{proxy}",
    r"--db \w+\.db": "--db c.db",
    r"(?<= )17(?= |$)": "{unlinked}",
}
SAYS: Mapping[str, str] = {
    "status": r"well .*\n.*\ncatalogue .*(?s:.*)priority  sub-queue",
    "why": "wms valid .ok.|wms invalid .protected.(?s:.*)HTTP 401",
    "probe .* --maps": r"a map|GetMap|delivers",
    "probe --file": "valid ",
    "recognise": "GeoServer(?s:.*)SERVICE=WMS",
    "harvest": "CSW",
    "strategies": "fusion.*(?s:.*)gws",
    "export .*--out": "written to",
    "export .*jsonl": r'^\{"url": ',
    "publish": "39 services|published",
    "snapshot": "written to",
    "watch add": "^Watch [1-9]",
    "watch import": "[1-9] ",
    "watch list": "^id.*\n1\t",
    "watch send": "message",
    "watch remove 2": "Watch 2 removed",
    "watch downtime .*--weekly": "Downtime 1",
    "watch downtime .*--from": "Downtime 2.*2026-12-05 20:00:00",
    "watch ack": "is well",
    "report .*--out": "services? written|providers written",
    "report .*--inspire --json": r"^\[",
    "report --by provider --provider": "Tarika Land Survey\n(?s:.*)mend it: .*\n +standard:",
    "report --by provider --json": '^.."provider"',
    "stats --picture kinds": "WMS █+ [1-9]",
    "stats .*--(out|plot)": "Drawn into",
    "stats --survival": "Drawn into survival",
    "search .*--facets": "^id.*\n.*wms(?s:.*)\nkind: ",
    "search .*json": r'^\[\{"id"',
    "search": "^(id|service)\t.*\n[1-9]",
    "show": "layers",
    "seeds add .*--shipped": "1,[0-9]+ start pages added",
    "seeds add": "start pages? added",
    "seeds check": "^answers(?s:.*)1 that answer",
    "check --repair": "nothing was wrong",
    "check-list .*markdown": r"^\| state ",
    "check-list .*sarif": '"2.1.0"',
    "check-list .*junit": "<testsuite ",
    "check-list": "^ok  ",
    "check": "^GEOCRAWL CRITICAL - daemon: not running",
    "doctor": "ok     settings(?s:.*)TO DO  contact",
    "metrics --grafana": '"title": "geocrawl"',
    "metrics --alerts": "alert: GeocrawlDown",
    "metrics --out": "",
    "backup": "checked",
    "restore": "restored from(?s:.*)former database is kept",
    "stop": "No daemon",
    "forget": "it will not be visited again",
    "history": "alive since",
    "changes": r"^at\tkind(?s:.*)\tWMS\thttp.*\tnew$",
    "crawl": "Finished|The catalogue contains",
}
"""How a line begins, as a pattern → what it prints; the first that fits counts."""
EXIT_CODES: Mapping[str, int] = {"check --repair": 0, "check": 2, "doctor": 1, "watch ack": 2}
"""Of commands that say by it that something is to be done: no daemon, no contact, a service that is well."""


EXTRAS: Mapping[str, str] = {
    "geoparquet": "pyarrow",
    "mine": "duckdb",
    "evaluate": "matplotlib",
    "language": "py3langid",
}
"""Extra → its module, which only the lines of a page that names the extra find."""


def _value(line: str, table: Mapping[str, Any], default: Any) -> Any:
    return next((value for begin, value in table.items() if re.match(rf"{begin}(?![\w-])", line)), default)


def _prepare(crawled: Path) -> dict[str, object]:
    """Put what the lines read into the working directory; return what stands for numbers and addresses."""
    shutil.copy(crawled, "c.db")
    glacier = "http://gis.uni-norvale.example/glacier/wms"
    with closing(sqlite3.connect("c.db")) as catalogue:
        unlinked = catalogue.execute("SELECT id FROM v_services WHERE title = 'Land parcels and roads'").fetchone()[0]
    with closing(sqlite3.connect(made_database(Path("data.db")))) as resources, resources:
        resources.execute("DELETE FROM resource WHERE identifier > 1")
        resources.execute("UPDATE resource SET url = ?", (glacier,))
    resource = {"resource_type": "OGC:WMS", "active": 1, "title": "Ice", "url": glacier, "tags": ["production"]}
    Path("resources.json").write_text(json.dumps({"total": 1, "resources": [resource]}))
    Path("addresses.txt").write_text(f"# mine\n{glacier}\n")
    Path("endpoints.csv").write_text(f"url\n{GEOSERVER}/wms\n")
    Path("layers.csv").write_text(f"url,layer\n{GEOSERVER}/wms,roads\n")
    Path("last-week.json").write_text("[]")
    return {"unlinked": unlinked}


@pytest.mark.parametrize("page", [each for each in PAGES if example_lines(each)], ids=lambda each: each.name)
def test_the_command_lines_of_a_page_say_what_it_promises(
    page: Path, crawled: Path, demo_web: DemoWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {"DB": "c.db", "PROXY": demo_web.proxy_url, "DELAY": "0", "MAIL_SERVER": "127.0.0.1:9"}.items():
        monkeypatch.setenv(f"GEOCRAWL_{name}", value)
    for extra, module in EXTRAS.items():
        if not re.search(rf"\[[\w,]*{extra}|`{extra}`", page.read_text("utf-8")):
            monkeypatch.setitem(sys.modules, module, None)
    names = _prepare(crawled) | {"proxy": demo_web.proxy_url}
    wrong = {}
    for line in example_lines(page):
        if any(re.match(pattern, line) for pattern in NOT_RUN):
            continue
        command = line
        for pattern, instead in STAND_INS.items():
            command = re.sub(pattern, instead.format_map(names), command)
        done = geocrawl(*shlex.split(command))
        said = done.out + done.err
        if done.code != _value(line, EXIT_CODES, 0) or not re.search(_value(line, SAYS, r"(?!)"), said, re.M):
            wrong[line] = (command, done.code, said[-1_000:])
    assert wrong == {}


def test_what_is_not_run_stands_in_the_documentation() -> None:
    lines = [line for page in PAGES for line in example_lines(page)]
    for pattern, reason in NOT_RUN.items():
        assert any(re.match(pattern, line) for line in lines), pattern
        for place in re.findall(r"tests/[\w/.]+", reason):
            assert (ROOT / place).exists(), place
