"""The rooms are as `docs/architecture.md` says, and its picture and its answers name what there is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocrawl.model import Kind
from scripts import architecture
from tests.support.places import ROOT

PACKAGE, TESTS = ROOT / "geocrawl", ROOT / "tests"
MOST_LINES_OF_A_FILE, MOST_LINES_OF_A_FUNCTION = 600, 60
"""Bounds that say that something grew; a file of 250 lines and a function of 25 are usual."""
TESTS_OF_THE_WHOLE = ("acceptance", "attacks", "fates", "golden", "servers", "simulation", "support", "systemd")
TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
QUESTIONS = re.findall(r"^\| … (.+?) \| (.+) \|$", TEXT, re.MULTILINE)
"""(question, answer)."""


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the full name of every module that a file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def names_defined_in(path: Path) -> set[str]:
    """Return the functions, classes and constants at the top of a module."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def test_there_is_an_answer_to_many_questions() -> None:
    assert len(QUESTIONS) >= 25


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_every_answer_exists(question: str, answer: str) -> None:
    places = re.findall(r"`([^`:]+)(?::(\w+))?`", answer)
    assert places, question
    for name, defined in places:
        path = ROOT / name
        assert path.exists(), name
        assert not defined or defined in names_defined_in(path), f"{name} defines no {defined}"


def test_names_in_the_ways_of_a_url_and_of_a_candidate_are_defined() -> None:
    ways = TEXT[TEXT.index("## The way of a URL") : TEXT.index("## Where do I find")]
    defined = {name for path in (ROOT / "geocrawl").rglob("*.py") for name in names_defined_in(path)}
    named = {name.partition(".")[0] for name in re.findall(r"`([A-Za-z_]+(?:\.[a-z_]+)?)`", ways)}
    rooms = {path.name for path in (ROOT / "geocrawl").iterdir()}
    assert named - defined - rooms == set()
    assert len(named) > 15


def test_every_room_is_described() -> None:
    rooms = {room for layer in architecture.layers() for room in layer}
    described = {
        room for cell in re.findall(r"^\| (`.+?`) \|", TEXT, re.MULTILINE) for room in re.findall(r"`(\w+)`", cell)
    }
    assert described == rooms


def test_the_picture_shows_every_room_and_no_other() -> None:
    drawn = re.findall(r'font-weight="bold"[^>]*>([^<]+)<', architecture.PICTURE.read_text("utf-8"))
    rooms = {room for layer in architecture.layers() for room in layer}
    assert {room for names in drawn for room in names.split(" · ")} == rooms, "make architecture"


def test_a_file_tells_one_story_and_a_function_does_one_thing() -> None:
    long = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if text.count("\n") > MOST_LINES_OF_A_FILE:
            long.append(str(path.relative_to(ROOT)))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES_OF_A_FUNCTION:
                    long.append(f"{path.relative_to(ROOT)}:{node.name}")
    assert long == []


def test_every_insert_names_its_columns() -> None:
    inserts = [
        (str(path.relative_to(PACKAGE)), found[1], found[2] is not None)
        for path in sorted(PACKAGE.rglob("*.py"))
        for found in re.finditer(r"\bINSERT(?:\s+OR\s+\w+)?\s+INTO\s+([\w.]+)(\s*\()?", path.read_text("utf-8"))
    ]
    assert len(inserts) > 5
    assert [(name, table) for name, table, names_columns in inserts if not names_columns] == []


def test_a_folder_of_tests_is_named_as_its_room() -> None:
    folders = {path.name for path in TESTS.iterdir() if any(path.glob("**/test_*.py"))}
    assert [
        name
        for name in sorted(folders - {*TESTS_OF_THE_WHOLE})
        if not (PACKAGE / name).is_dir() and not (PACKAGE / f"{name}.py").exists()
    ] == []


LISTS = {
    "export/qgis.py": "the files that QGIS reads, by its own names",
    "probe/ows/owslib_reader.py": "the three standards that are older than OWS Common",
    "urls/endpoints.py": "services of ArcGIS Server, by its own names",
    "urls/patterns.py": "services of GeoServer, by its own names",
}
"""Files that name several kinds, and why. A list of kinds anywhere else would have to grow with each new kind."""
_NAMES = re.compile(rf"(?<![a-z])(?:{'|'.join(Kind)})(?![a-z])")


def kinds_named(node: ast.AST) -> set[str]:
    """Return the kinds that a collection, a chain of comparisons or a pattern lists."""
    if isinstance(node, ast.Constant):
        return {node.value} & set(Kind) if isinstance(node.value, str) else set()
    if isinstance(node, ast.Attribute):
        return {node.attr.lower()} if isinstance(node.value, ast.Name) and node.value.id == "Kind" else set()
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return {name for each in node.elts for name in kinds_named(each)}
    if isinstance(node, ast.Dict):
        return {name for key in node.keys if key is not None for name in kinds_named(key)}
    if isinstance(node, ast.FunctionDef):
        compared = [each for each in ast.walk(node) if isinstance(each, ast.Compare)]
        return {name for each in compared for side in (each.left, *each.comparators) for name in kinds_named(side)}
    return set()


def lists_of_kinds(code: str) -> list[int]:
    """Return the lines at which code lists three kinds or more; what a docstring names, or "wms, wfs …", is no list."""
    tree = ast.parse(code)
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        names = kinds_named(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            names = set(_NAMES.findall(node.value)) if "…" not in node.value else set()
        if isinstance(node, ast.expr | ast.stmt) and len(names) > 2:
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    ("code", "lists"),
    [
        ('KINDS = {"wms", "wfs", "csw"}', True),
        ('NAMES = {Kind.WMS: "a", Kind.WFS: "b", Kind.CSW: "c"}', True),
        ('PAIRS = (("stac", 1), ("tms", 2), ("wmsc", 3))', True),
        ('PATTERN = re.compile(r"/(?:wms|wfs|wcs)/")', True),
        ("def f(kind):\n    if kind == 'wms':\n        return 1\n    return kind in ('wfs', 'csw')", True),
        ("def f(kind):\n    return kind is Kind.WMS", False),
        ('def f():\n    """Return wms, wfs, csw or stac."""', False),
        ('WORDS = ("wms", "map", "forms", "stack")', False),
    ],
)
def test_a_list_of_kinds_is_seen(code: str, lists: bool) -> None:
    assert bool(lists_of_kinds(code)) == lists


def test_kinds_are_listed_where_a_new_one_is_added_and_nowhere_else() -> None:
    files = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
    names = [name for name in files if name.partition("/")[0] not in ("demo", "lab")]
    lists = {name: lines for name in names if (lines := lists_of_kinds(files[name].read_text("utf-8")))}
    assert lists.keys() == LISTS.keys(), f"what differs by kind is declared by each: see CONTRIBUTING.md; {lists}"


def test_data_and_pages_have_no_entry_for_each_kind() -> None:
    files = [path for form in ("*.toml", "*.html", "*.js") for path in sorted(PACKAGE.rglob(form))]
    key = re.compile(r"^\s*\[?\"?(\w+)\"?\]?\s*[=:\]]", re.MULTILINE)
    keys = {path.name: set(key.findall(path.read_text("utf-8"))) for path in files}
    assert len(keys) > 20
    assert {name: found & set(Kind) for name, found in keys.items() if len(found & set(Kind)) > 2} == {}


def test_no_test_imports_a_measurement() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert len(files) > 100
    importing = [
        str(path.relative_to(ROOT))
        for path in files
        if any(module.partition(".")[0] == "benchmarks" for module in imported_modules(path))
    ]
    assert importing == []
