"""What commands print, and their exit codes: the help of every command, right and wrong usages."""

from __future__ import annotations

import datetime
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress

from tests.golden import columns
from tests.golden.catalogue import Catalogue, asked_of
from tests.support.commands import geocrawl

READING: Mapping[str, str] = {
    "status": """
status @
status --json @
""",
    "search": """
search water @
search --json glacier @
search --format jsonl 地图 @
search 'land use kind:wms' @
search glaceir @
search xyzzy @
search --json xyzzy @
search 'kind:nothing' @
search -- -historic @
search -historic @
search @
""",
    "show": """
show 1 @
show --json 1 @
show 8 @
show http://gis.uni-norvale.example/glacier/wms @
show 999 @
show one @
show @
""",
    "why": """
why http://www.norvale-geoportal.example/ @
why --json http://www.norvale-geoportal.example/services @
why http://www.norvale-courier.example/sport/gone-5.html @
why http://maps.norvale-geoportal.example/geoserver/wms @
why http://nowhere.example/ @
why 'not an address' @
""",
    "history": """
history 1 @
history --json 1 @
history 999 @
changes @
changes --json --limit 2 @
changes --since 1d --limit 1 @
changes --since yesterday @
""",
    "stats": """
stats @
stats --json @
stats --picture kinds @
stats --picture countries @
stats --picture software @
stats --picture deviations @
stats --picture map @
stats --picture nothing @
signals @
signals --json @
""",
    "export": """
export --kind wps @
export --kind nothing @
export --format nothing @
export --format gpkg @
export --bbox 1,2 @
export --level much @
export --crs EPSG:4326 --kind wms --format seeds @
export --format qgis --out FOLDER/no/such/folder/qgis @
export xyzzy @
""",
    "report": """
report --month MONTH @
report --month MONTH --format csv @
report --month 2020-01 --format csv @
report --month 2026-13 @
report @
""",
    "monitoring": """
check @
metrics @
metrics --grafana
workers @
workers --json @
""",
    "lists": """
kinds
kinds --json
strategies
topics list
topics show environment/soil
topics show nothing
seeds list @
seeds list --json @
watch list @
config show @
config check FOLDER/nothing.toml
""",
    "laboratory": """
world make nothing --out FOLDER/web
world make portal --pages 10 --out FOLDER/web
world make portal --pages 200 --seed 1 --out FOLDER/web
world make portal --pages 200 --seed 1 --out FOLDER/web
world check FOLDER/web
world check FOLDER/nothing
train topic
""",
    "no-database": """
status --db FOLDER/none.db
search water --db FOLDER/none.db
show 1 --db FOLDER/none.db
export --db FOLDER/none.db
serve --db FOLDER/none.db
check --db FOLDER/none.db
metrics --db FOLDER/none.db
workers --db FOLDER/none.db
backup FOLDER/copy --db FOLDER/none.db
status --db FOLDER/text.db
status --db mysql://localhost/geocrawl
status --config FOLDER/nothing.toml
status --config FOLDER/bad.toml
status --db FOLDER
""",
    "wrong-usage": """
serch
world
seeds remvoe
status --jsn
status --format xml @
show 1 2 @
serve --port 99999 @
--version
""",
}
"""Name → usages that change nothing; `@` is `--db` with the catalogue, FOLDER the user's,
MONTH that of the crawl."""
WRITING: Mapping[str, str] = {
    "decisions": """
merge http://gis.uni-norvale.example/glacier/wms http://gis.uni-norvale.example/mapproxy/service @
show http://gis.uni-norvale.example/glacier/wms @
split http://gis.uni-norvale.example/glacier/wms http://gis.uni-norvale.example/mapproxy/service @
merge http://nowhere.example/wms http://gis.uni-norvale.example/glacier/wms @
release norvale-courier.example @
forget www.norvale-courier.example @
forget www.norvale-courier.example @
why http://www.norvale-courier.example/ @
""",
    "crawl": """
crawl --asked-- @
crawl not-an-address:// @
crawl http://www.norvale-geoportal.example/ --strategy nothing @
crawl http://www.norvale-geoportal.example/ --set gws.lambda=9 --strategy gws @
crawl http://www.norvale-geoportal.example/ --set lambda @
crawl http://www.norvale-geoportal.example/ --max-time soon @
crawl http://www.norvale-geoportal.example/ --workers 0 @
crawl http://www.norvale-geoportal.example/ --processes 0 @
crawl --seeds FOLDER/nothing.txt @
crawl --topic nothing http://www.norvale-geoportal.example/ @
crawl --proxy nowhere http://www.norvale-geoportal.example/ @
crawl --db FOLDER/no/such/folder/x.db http://nowhere.example/ --asked-- --workers 1
probe @
harvest @
mine --out FOLDER/mined @
""",
    "queue": """
retry @
status @
crawl --asked-- --workers 1 --quiet @
crawl http://www.norvale-geoportal.example/ --again --asked-- --workers 1 --max-pages 1 --json --quiet @
probe http://maps.norvale-geoportal.example/geoserver/wms --asked-- @
probe http://gis.uni-norvale.example/glacier/wms --asked-- --json @
probe http://www.norvale-courier.example/ --asked-- @
probe http://nowhere.example/wms --asked-- @
""",
    "pages": """
pages list @
pages show http://www.norvale-geoportal.example/services @
crawl http://www.norvale-geoportal.example/services --again --asked-- --workers 1 --max-pages 1 --store-pages --quiet @
pages list @
pages list --json @
pages show http://www.norvale-geoportal.example/services @
pages export --out FOLDER/pages.warc.gz @
""",
    "signals": """
pause @
resume @
reload @
stop @
""",
    "seeds": """
seeds add http://www.norvale-geoportal.example/ @
seeds add http://www.norvale-geoportal.example/ https://shop.example/maps @
seeds add nothing: @
seeds add --file FOLDER/nothing.txt @
seeds list @
seeds remove https://shop.example/maps @
seeds remove https://shop.example/maps @
""",
    "watches": """
watch add water --to file:FOLDER/news.jsonl @
watch add 1 --to file:FOLDER/news.jsonl @
watch add 999 --to file:FOLDER/news.jsonl @
watch add 1 --to pigeon:anna @
watch list @
watch list --json @
watch send @
watch remove 1 @
watch remove 1 @
""",
    "backups": """
backup FOLDER/backup.db @
backup FOLDER/backup.db @
restore FOLDER/nothing.db @
""",
    "copies": """
check --repair @
migrate CATALOGUE FOLDER/migrated.db
status --db FOLDER/migrated.db
migrate CATALOGUE FOLDER/migrated.db
""",
}
"""Name → usages that change the catalogue, each name on a copy; `--asked--`: with the demo's proxy and delay."""
ON_A_TERMINAL = """
search rivers @
search --layers rivers @
search rivers --wide @
watch add 'land use kind:wms' --to mail:the-department-of-maps@norvale.example @
watch list @
"""
"""Usages that are printed to terminals of `WIDTHS` columns."""
WIDTHS = (80, 120)
OF_SQLITE_ALONE = ("usages/backups",)
_COMMAND = re.compile(r"^│ (\w+) ", re.MULTILINE)


def texts(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield name and text of the crawl, and of each group of usages."""
    (catalogue.folder / "text.db").write_text("no database\n")
    (catalogue.folder / "bad.toml").write_text("max_pages = 'many'\ncolour = 'red'\n")
    said = catalogue.crawl
    yield "usages/first-crawl", catalogue.masked(f"exit code {said.code}\n{said.out}-- standard error:\n{said.err}")
    for name, usages in READING.items():
        yield f"usages/{name}", "\n".join(_blocks(catalogue, usages))
    for columns_ in WIDTHS:
        with catalogue.copy() as copy:
            yield f"usages/terminal-{columns_}", "\n".join(_blocks(copy, ON_A_TERMINAL, columns_))
    for name, usages in WRITING.items():
        if catalogue.server is not None and f"usages/{name}" in OF_SQLITE_ALONE:
            continue
        with catalogue.copy() as copy:
            yield f"usages/{name}", "\n".join(_blocks(copy, usages))


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield name and text of the help of every command, which the help of its group names."""
    waiting = [""]
    while waiting:
        command = waiting.pop(0)
        said = geocrawl(*command.split(), "--help")
        assert said.code == 0, said.err
        text = "\n".join(line.rstrip() for line in said.out.split("\n"))
        yield f"help/{command.replace(' ', '-') or 'geocrawl'}", f"{text.strip()}\n"
        _, _, commands = said.out.partition("Commands ─") if command else ("", "", said.out.partition("╭─ Find")[2])
        waiting += [f"{command} {each}".strip() for each in _COMMAND.findall(commands)]


def _blocks(catalogue: Catalogue, usages: str, width: int = 0) -> Iterator[str]:
    """Run usages; yield each with its exit code and what it printed, to a terminal of so many columns or a pipe."""
    for usage in usages.strip().split("\n"):
        said = geocrawl(*_arguments(catalogue, usage), columns=width)
        errors = f"-- standard error:\n{said.err}" if said.err else ""
        printed = catalogue.masked(f"{_indented(catalogue, said.out)}{errors}-- exit code {said.code}\n")
        yield f"$ geocrawl {usage}\n" + "\n".join(line.rstrip() for line in printed.split("\n"))


def _indented(catalogue: Catalogue, text: str) -> str:
    """Return JSON in lines, of lists four items; other text as it is."""
    if text.startswith(("{", "[")):
        with suppress(ValueError):  # JSON lines
            return catalogue.layout.json(columns.of_json(json.loads(text))) + "\n"
    return columns.of_text(text)


def _arguments(catalogue: Catalogue, usage: str) -> Iterator[str]:
    month = f"{datetime.datetime.now(datetime.UTC):%Y-%m}"
    for word in shlex.split(usage):
        if word == "@":
            yield from ("--db", catalogue.url)
        elif word == "--asked--":
            yield from asked_of(catalogue.web)
        else:
            yield (
                word.replace("FOLDER", str(catalogue.folder))
                .replace("CATALOGUE", catalogue.url)
                .replace("MONTH", month)
            )
