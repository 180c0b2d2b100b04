"""Compile statements of SQLAlchemy Core to SQLite's SQL, once each; PostgreSQL's connection translates it.

The statements of `store/read` are written with the schema's tables (`store/schema/tables.py`). They run on the same
connection as the plain ones: SQLAlchemy writes the text, `Connection` runs it. That costs 1 µs a statement;
SQLAlchemy's own execution costs 10 µs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from sqlalchemy import ClauseElement
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler

Binder = Callable[[Mapping[str, Any]], tuple[Any, ...]]
"""Named values of a statement → the values of its placeholders in their order. KeyError when a name is missing."""

_MOST_KEPT = 1_000
"""Most compiled texts that are kept: statements that are built for one question would fill the memory."""


class Compiler:
    """Texts of statements, remembered by statement and by the names of the values that it is given."""

    __slots__ = ("_compiled", "_dialect")

    def __init__(self) -> None:
        self._dialect = sqlite.dialect(paramstyle="qmark")
        self._compiled: dict[tuple[object, ...], tuple[str, Binder]] = {}

    def compiled(self, statement: ClauseElement, values: Mapping[str, Any]) -> tuple[str, Binder]:
        """Return a statement's SQL, and a function that makes its placeholders' values from `values` and the
        statement's constants. An INSERT or UPDATE writes the columns that `values` names."""
        key = (statement, *values)
        known = self._compiled.get(key)
        if known is None:
            if len(self._compiled) >= _MOST_KEPT:
                self._compiled.clear()
            known = self._compiled[key] = self._compile(statement, values)
        return known

    def _compile(self, statement: ClauseElement, values: Mapping[str, Any]) -> tuple[str, Binder]:
        compiled = statement.compile(
            dialect=self._dialect, column_keys=list(values), compile_kwargs={"render_postcompile": True}
        )
        assert isinstance(compiled, SQLCompiler)
        given = {name for name, placeholder in compiled.binds.items() if placeholder.required} | set(values)
        constants = {name: value for name, value in compiled.params.items() if name not in given}
        return str(compiled), _binder(compiled.positiontup or [], constants)


def _binder(names: list[str], constants: Mapping[str, Any]) -> Binder:
    if not names:
        return lambda _: ()
    if constants:
        return lambda values: tuple(constants[name] if name in constants else values[name] for name in names)
    if len(names) == 1:
        return lambda values: (values[names[0]],)
    return itemgetter(*names)
