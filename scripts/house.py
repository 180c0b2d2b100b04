"""Print how large the house is, room by room: `python -m scripts.house`.

Lines and files; files that one file alone imports, which stands beside them; functions that only forward to another.
"""

from __future__ import annotations

import ast
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp

PACKAGE = Path(__file__).resolve().parents[1] / "geocrawl"


def main() -> None:
    """Print the table and the cycles."""
    files = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    graph = grimp.build_graph("geocrawl")
    lines, count, forwarding, alone = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for path, text in files.items():
        room = _room(path)
        lines[room] += text.count("\n")
        count[room] += 1
        forwarding[room] += sum(map(_only_forwards, _functions(ast.parse(text))))
        alone[room] += _is_imported_by_one_neighbour(graph, path)
    print("| room | lines | files | imported by one neighbour | functions that forward |\n|---|---|---|---|---|")
    for room in sorted(lines, key=lambda each: -lines[each]):
        print(f"| {room} | {lines[room]:,} | {count[room]} | {alone[room]} | {forwarding[room]} |")
    of_all = [sum(each.values()) for each in (lines, count, alone, forwarding)]
    without_lab = [total - each["lab"] for total, each in zip(of_all, (lines, count, alone, forwarding), strict=True)]
    for name, values in (("all", of_all), ("without lab", without_lab)):
        print(f"| **{name}** | " + " | ".join(f"{value:,}" for value in values) + " |")
    lengths = [text.count("\n") for text in files.values()]
    spans = [_span(each) for text in files.values() for each in _functions(ast.parse(text))]
    print(f"\nMedian lines: file {statistics.median(lengths):.0f}, function {statistics.median(spans):.0f}")


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "(top)"


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _span(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _only_forwards(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function's only statement calls another one with its own arguments, in their order."""
    body = [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr) or body[0].value is None:
        return False
    value = body[0].value.value if isinstance(body[0].value, ast.Await) else body[0].value
    if not isinstance(value, ast.Call):
        return False
    own = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)} - {"self", "cls"}
    given = [*value.args, *(each.value for each in value.keywords)]
    return {each.id for each in given if isinstance(each, ast.Name)} == own and len(given) == len(own)


def _is_imported_by_one_neighbour(graph: grimp.ImportGraph, path: Path) -> bool:
    name = "geocrawl." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    importers = graph.find_modules_that_directly_import(name) if name in graph.modules else set()
    return len(importers) == 1 and next(iter(importers)).rpartition(".")[0] == name.rpartition(".")[0]


if __name__ == "__main__":
    main()
