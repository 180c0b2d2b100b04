"""Write the tables' part of docs/database.md from the docstrings of the classes and of their columns.

`python -m scripts.schema_page`, or `make schema`.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

from sqlalchemy import Column, Table
from sqlmodel import SQLModel

from geocrawl.store.database.schema.models import METADATA, MODELS
from geocrawl.store.database.schema.tables import HASH
from geocrawl.store.database.views import VIEWS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "database.md"
BEGIN = "<!-- The tables: written by `make schema` from geocrawl/store/database/schema. -->"
END = "<!-- End of the tables. -->"
_TYPES = {"VARCHAR": "text", "FLOAT": "real", "INTEGER": "integer", "BIGINT": "64-bit hash", "BLOB": "bytes"}


def with_tables(page: str) -> str:
    """Return the text of docs/database.md with a new part between the two marks; raise ValueError without marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"docs/database.md needs the lines {BEGIN!r} and {END!r}")
    return f"{before}{begin}\n\n{tables()}\n{views_reference()}\n{end}{after}"


def tables() -> str:
    """Return Markdown: a section for each file, in it a heading and the columns for each table."""
    return "\n".join(line for room, models in groupby(MODELS, _room) for line in _section(room, list(models)))


def views_reference() -> str:
    """Return Markdown: a heading, the meaning and the columns for each view."""
    lines = [
        "## Views\n",
        "For people and other software: names and columns stay over versions, and no key is shown.\n",
    ]
    for name, view in VIEWS.items():
        lines += [f"### `{name}`\n", f"{view.rows}\n", "| column | meaning |", "|---|---|"]
        lines += [f"| `{column}` | {meaning} |" for column, (_, meaning) in view.columns.items()]
        lines.append("")
    return "\n".join(lines)


def _room(model: type[SQLModel]) -> str:
    return model.__module__


def _section(room: str, models: list[type[SQLModel]]) -> Iterator[str]:
    yield f"## {room.rpartition('.')[2].capitalize()}\n\n{_subject(sys.modules[room])}\n"
    for model in models:
        table = METADATA.tables[str(model.__tablename__)]
        yield f"### `{table.name}`\n\n{_prose(model)}\n\n| column | type | meaning |\n|---|---|---|"
        meanings = _meanings(model)
        for column in table.columns:
            yield f"| `{column.name}` | {_type(column, table)} | {meanings.get(column.name, '')} |"
        yield ""


def _subject(room: object) -> str:
    """Return the docstring of a module as a phrase: "Define the tables of seeds." becomes "Seeds."."""
    prose = _prose(room).removeprefix("Define the tables of ").removeprefix("the ")
    return prose[:1].upper() + prose[1:]


def _prose(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").split())


def _meanings(model: type[SQLModel]) -> dict[str, str]:
    """Return field name → the docstring below the field in the class."""
    (definition,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(definition, ast.ClassDef)
    meanings = {}
    for field, below in pairwise(definition.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                meanings[name] = " ".join(meaning.split()).replace("|", "\\|")
    return meanings


def _type(column: Column[object], table: Table) -> str:
    words = ["64-bit hash" if column.type is HASH else _TYPES[str(column.type)]]
    if column.primary_key:
        words.append("key" if len(table.primary_key) == 1 else "part of the key")
    words += [f"id in `{key.column.table.name}`" for key in column.foreign_keys]
    return ", ".join(words) + (" or NULL" if column.nullable else "")


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
