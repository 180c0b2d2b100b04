"""Write the tables for statements, `schema/tables.py`, from the classes of the tables.

`python -m scripts.statement_tables`, or `make schema`.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Table

STORE = Path(__file__).resolve().parents[1] / "geocrawl" / "store"
MODULE = STORE / "database" / "schema" / "tables.py"
MARK = "# Written by `make schema` from here on.\n"
_WORDS = {"VARCHAR": "text", "FLOAT": "real", "INTEGER": "integer", "BIGINT": "hash", "BLOB": "bytes"}
_WIDTH = 112


def with_tables(module: str) -> str:
    """Return the text of the module with new lines below its mark."""
    from geocrawl.store.database.schema.models import METADATA

    before, mark, _ = module.partition(MARK)
    return before + mark + "".join(_lines(table) for _, table in sorted(METADATA.tables.items()))


def _lines(table: Table) -> str:
    """Return the definition of a table's constant, formatted as ruff formats it."""
    columns = ", ".join(
        f"{column.name}{'*' * column.primary_key} {_WORDS[str(column.type)]}{'?' * bool(column.nullable)}"
        for column in table.columns
    )
    constant = table.name.upper()
    if len(line := f'{constant} = _table("{table.name}", "{columns}")\n') <= 121:
        return line
    if len(line := f'    "{table.name}", "{columns}"\n') <= 121:
        return f"{constant} = _table(\n{line})\n"
    texts = "\n    ".join(f'"{part}"' for part in _parts(columns))
    return f'{constant} = _table(\n    "{table.name}",\n    {texts},\n)\n'


def _parts(columns: str) -> list[str]:
    *lines, last = textwrap.wrap(columns, _WIDTH)
    return [*(f"{line} " for line in lines), last]


if __name__ == "__main__":
    # The store itself is not imported: its statements may name a table or a column that is yet to be written.
    package = ModuleType("geocrawl.store")
    package.__path__ = [str(STORE)]
    sys.modules[package.__name__] = package
    MODULE.write_text(with_tables(MODULE.read_text("utf-8")), "utf-8")
