"""Each export of a catalogue of made services: seconds, peak memory, and what another program reads of the file.

The readers are `ogrinfo` (gdal-bin), `rapper` (raptor2-utils), `xmllint` (libxml2-utils), `node`, geocrawl's own
`seeds add`, and the Python of READERS_PYTHON with geopandas and duckdb; a reader that is absent is named in
the result. QGIS (the Python of /usr/bin) imports a sample of the connections with its own dialog.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import machine
from tests.support import processes
from tests.support.made_catalogue import LAYERS_EACH, make_catalogue
from tests.support.places import ROOT

READERS = os.environ.get("READERS_PYTHON", "")
QGIS_PYTHON = "/usr/bin/python3"
FILES = {
    "csv": "services.csv",
    "jsonl": "services.jsonl",
    "geojson": "services.geojson",
    "gpkg": "services.gpkg",
    "geoparquet": "services.parquet",
    "dcat": "services.ttl",
    "dcat (JSON-LD)": "services.jsonld",
    "qgis": "connections",
    "openlayers": "openlayers.html",
    "leaflet": "leaflet.html",
    "seeds": "seeds.txt",
}


def main(arguments: list[str]) -> None:
    """Write i_exports.json. SystemExit when a count that is read back differs from the one that was written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows exports", description=__doc__)
    parser.add_argument("--services", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=1_000, help="services whose connections QGIS imports")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-exports-") as name:
        folder = Path(name)
        db = folder / "made.db"
        make_catalogue(db, options.services)
        rows = [_measured(db, form, folder) for form in FILES]
        sample = folder / "sample.db"
        make_catalogue(sample, options.sample)
        qgis = _qgis(sample, folder / "sample")
    figures = {"services": options.services, "layers": options.services * LAYERS_EACH, "exports": rows, "qgis": qgis}
    if not options.no_write:
        print(machine.write("i_exports", figures))
    wrong = [row["format"] for row in rows if row["read"] not in (row["written"], None)]
    if wrong or not all(each["as_written"] for each in qgis.get("files", [])):
        raise SystemExit(f"read back differently: {wrong or qgis}")


def _measured(db: Path, form: str, folder: Path) -> dict[str, Any]:
    """Export in a process of its own, and have the file read by another program."""
    out = folder / FILES[form]
    command = processes.geocrawl("export", "--db", str(db), "--format", form.partition(" ")[0], "--out", str(out))
    done = processes.checked(command)
    written = int(done.stdout.split()[0].replace(",", ""))
    size = sum(path.stat().st_size for path in (out.iterdir() if out.is_dir() else [out]))
    reader, read = _read(form, out)
    row = {
        "format": form,
        "written": written,
        "cpu_s": done.cpu_s,
        "wall_s": done.wall_s,
        "peak_mib": done.peak_mib,
        "file_mib": round(size / 2**20, 1),
        "reader": reader,
        "read": read,
    }
    print("   " + ", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    return row


def _read(form: str, out: Path) -> tuple[str, int | None]:
    """Return the reader of a format and the number of rows that it counts; None where it is not installed."""
    name, read = _READERS_BY_FORMAT[form]
    program = name.split()[0]
    is_there = bool(READERS) if program in ("duckdb", "geopandas") else shutil.which(program) or program == "geocrawl"
    return (name, read(out)) if is_there else (f"{name} is not installed", None)


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} … ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def _ogrinfo(out: Path) -> int:
    table = ["services"] if out.suffix == ".gpkg" else ["-al"]
    found = re.search(r"Feature Count: (\d+)", _said("ogrinfo", "-ro", "-so", str(out), *table))
    return int(found[1]) if found else 0


def _duckdb(out: Path) -> int:
    as_written = "header=true, delim=',', quote='\"', escape='\"', all_varchar=true, parallel=false"
    rows = f"read_csv('{out}', {as_written})" if out.suffix == ".csv" else f"read_json('{out}')"
    query = f"SELECT count(url) FROM {rows}"
    return int(_said(READERS, "-c", f"import duckdb; print(duckdb.sql({query!r}).fetchall()[0][0])"))


def _geopandas(out: Path) -> int:
    code = f"import geopandas; print(len(geopandas.read_parquet('{out}').dropna(subset=['url'])))"
    return int(_said(READERS, "-c", code))


def _rapper(out: Path) -> int:
    triples = _said("rapper", "-q", "-i", "turtle", "-o", "ntriples", str(out))
    return triples.count("<http://www.w3.org/ns/dcat#DataService>")


def _jsonld(out: Path) -> int:
    code = (
        "const graph = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'))['@graph'];"
        "console.log(graph.filter(node => node['@type'] === 'dcat:DataService').length)"
    )
    return int(_said("node", "-e", code, str(out)))


def _xmllint(out: Path) -> int:
    return sum(int(float(_said("xmllint", "--xpath", "count(/*/*)", str(path)))) for path in out.iterdir())


def _node(out: Path) -> int:
    count = (
        "const page = require('fs').readFileSync(process.argv[1], 'utf8');"
        "const list = page.split('const services = ')[1].split('\\n];')[0] + '\\n]';"
        "console.log(eval(list).length)"
    )
    return int(_said("node", "-e", count, str(out)))


def _seeds(out: Path) -> int:
    db = out.with_name("from-seeds.db")
    said = _said(*processes.geocrawl("seeds", "add", "--file", str(out), "--db", str(db)))
    return int(said.split()[0].replace(",", ""))


_READERS_BY_FORMAT: dict[str, tuple[str, Callable[[Path], int]]] = {
    "csv": ("duckdb", _duckdb),
    "jsonl": ("duckdb", _duckdb),
    "geojson": ("ogrinfo", _ogrinfo),
    "gpkg": ("ogrinfo", _ogrinfo),
    "geoparquet": ("geopandas", _geopandas),
    "dcat": ("rapper", _rapper),
    "dcat (JSON-LD)": ("node (JSON.parse)", _jsonld),
    "qgis": ("xmllint", _xmllint),
    "openlayers": ("node", _node),
    "leaflet": ("node", _node),
    "seeds": ("geocrawl seeds add", _seeds),
}


def _qgis(db: Path, out: Path) -> dict[str, Any]:
    """Have QGIS import a sample; say what it then has."""
    probe = subprocess.run([QGIS_PYTHON, "-c", "import qgis.gui"], capture_output=True, check=False)
    if probe.returncode:
        return {"skipped": "QGIS is not installed"}
    processes.checked(processes.geocrawl("export", "--db", str(db), "--format", "qgis", "--out", str(out)))
    files = [str(path) for path in sorted(out.iterdir()) if path.stem != "csw"]
    importer = ROOT / "tests" / "support" / "qgis_import.py"
    read = json.loads(_said(QGIS_PYTHON, str(importer), *files))
    version = _said(QGIS_PYTHON, "-c", "from qgis.core import Qgis; print(Qgis.QGIS_VERSION)").strip()
    rows = []
    for each in read:
        row: dict[str, Any] = {"file": Path(each["file"]).name, "written": _count(Path(each["file"]))}
        if "skipped" in each:
            row |= {"skipped": each["skipped"], "as_written": True}
        else:
            is_same = each["imported"] == row["written"] and not each["wrong"] and not each["asked"]
            row |= {"imported": each["imported"], "as_written": is_same}
        rows.append(row)
        print("   QGIS: " + ", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    return {"version": version, "files": rows}


def _count(path: Path) -> int:
    return int(float(_said("xmllint", "--xpath", "count(/*/*)", str(path))))
