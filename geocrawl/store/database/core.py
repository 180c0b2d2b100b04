"""Compile statements of SQLAlchemy Core for a connection's engine, once each; the connection runs the text itself.

Statements are written with the schema's tables (`schema/tables.py`), with `bindparam` for what changes from one
execution to the next, and with `constructs.py` where the engines differ. Running a compiled statement costs 1 µs more
than plain text; SQLAlchemy's own execution costs 10 µs.

Numbers and plain words that stand in a statement, such as `waiting`, are written into its text, since planners choose
partial indexes by them; other constants are bound, as whatever a person typed is. PostgreSQL is also told the number of
LIMIT and OFFSET: with a placeholder it plans for all rows (17 ms in the place of 0.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ClauseElement
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler, SQLiteDialect
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import ExecutableDDLElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeDecorator

Binder = Callable[[Mapping[str, Any]], Sequence[Any]]
"""Named values of a statement → the values of its placeholders in their order. KeyError when a name is missing."""

_MOST_KEPT = 2_000
"""Most compiled texts that are kept: statements that are built for one question would fill the memory."""
_WORD = re.compile("[a-z0-9:-]*")
_LIMIT = re.compile("\0(.*?)\0")


class _WithConstants(SQLCompiler):
    """Writes constants into the text where a planner needs them."""

    def visit_bindparam(self, bindparam: BindParameter[Any], **options: Any) -> str:  # type: ignore[override]
        """Write a placeholder, or the constant itself."""
        is_constant = not bindparam.required and (bindparam.unique or getattr(bindparam, "_is_crud", False))
        if is_constant and bindparam.expanding and all(map(_is_plain, bindparam.value or ())):
            options["literal_binds"] = True
        elif is_constant and not bindparam.expanding and (literal := _literal(bindparam.value)):
            return literal
        return str(super().visit_bindparam(bindparam, **options))  # type: ignore[no-untyped-call]


def _is_plain(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and _WORD.fullmatch(value) is not None)


def _literal(value: object) -> str:
    """Return the text of a number, a word of the program or NULL; '' for other values."""
    if value is None:
        return "NULL"
    if not _is_plain(value):
        return ""
    return f"'{value}'" if isinstance(value, str) else repr(int(value) if isinstance(value, bool) else value)


class _SqliteCompiler(_WithConstants, SQLiteCompiler):
    def get_from_hint_text(self, table: object, text: str | None) -> str | None:
        """Return a hint of `with_hint(…, dialect_name="sqlite")`, such as `INDEXED BY url_seed`, as it is."""
        return text

    def visit_ilike_op_binary(self, binary: Any, operator: object, **options: Any) -> str:
        """Write LIKE, which heeds no case here."""
        return str(self.visit_like_op_binary(binary, operator, **options))  # type: ignore[no-untyped-call]

    def visit_not_ilike_op_binary(self, binary: Any, operator: object, **options: Any) -> str:
        """Write NOT LIKE, which heeds no case here."""
        return str(self.visit_not_like_op_binary(binary, operator, **options))  # type: ignore[no-untyped-call]


class _Sqlite(SQLiteDialect):
    statement_compiler = _SqliteCompiler
    supports_statement_cache = True


def _postgres() -> Dialect:
    """Return PostgreSQL's dialect; it is imported here, because on SQLite it costs a twentieth of a command's start."""
    from sqlalchemy.dialects.postgresql.base import PGCompiler, PGDialect

    class PostgresCompiler(_WithConstants, PGCompiler):
        def limit_clause(self, select: Any, **options: Any) -> str:
            """Write LIMIT and OFFSET with marks, in whose places their numbers are written."""
            return str(super().limit_clause(select, of_limit=True, **options))  # type: ignore[no-untyped-call]

        def _on_conflict_target(self, clause: Any, **options: Any) -> str:
            """Write the target of SQLite's INSERT (`constructs.upsert`), which never names a constraint."""
            clause.constraint_target = None
            return str(super()._on_conflict_target(clause, **options))  # type: ignore[no-untyped-call]

        def visit_bindparam(self, bindparam: BindParameter[Any], of_limit: bool = False, **options: Any) -> str:  # type: ignore[override]
            return (
                f"\0{bindparam.key}\0"
                if of_limit and bindparam.required
                else super().visit_bindparam(bindparam, **options)
            )

    class Postgres(PGDialect):
        # psycopg's own dialect casts each value to its column's declared type, which is narrower than the column here.
        statement_compiler = PostgresCompiler
        supports_statement_cache = True

    return Postgres(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]


class CompiledStatement(NamedTuple):
    """A compiled statement."""

    parts: tuple[str, ...]
    """Texts before, between and after the numbers of LIMIT and OFFSET."""
    limits: tuple[str, ...]
    """Names of these numbers."""
    bind: Binder

    def text(self, values: Mapping[str, Any]) -> str:
        """Return the text for these values."""
        if not self.limits:
            return self.parts[0]
        numbers = [str(int(values[name])) for name in self.limits]
        return "".join(piece for pair in zip(self.parts, (*numbers, ""), strict=True) for piece in pair)


class Compiler:
    """Texts of statements, remembered by statement and by the names of the values that it is given."""

    __slots__ = ("_dialect", "_prepared")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._prepared: dict[tuple[object, ...], CompiledStatement] = {}

    def prepared(self, statement: ClauseElement, values: Mapping[str, Any]) -> CompiledStatement:
        """Return a statement's SQL, and a function that makes its placeholders' values from `values` and the
        statement's constants. An INSERT or UPDATE that says no columns itself writes those that `values` names."""
        key = (statement, *values)
        known = self._prepared.get(key)
        if known is None:
            if len(self._prepared) >= _MOST_KEPT:
                self._prepared.clear()
            known = self._prepared[key] = self._prepare(statement, values)
        return known

    def _prepare(self, statement: ClauseElement, values: Mapping[str, Any]) -> CompiledStatement:
        if isinstance(statement, ExecutableDDLElement):
            return CompiledStatement((str(statement.compile(dialect=self._dialect)),), (), lambda _: ())
        says_columns = getattr(statement, "_values", None) or getattr(statement, "select", None) is not None
        compiled = statement.compile(
            dialect=self._dialect,
            column_keys=None if says_columns else list(values),
            compile_kwargs={"render_postcompile": True},
        )
        assert isinstance(compiled, SQLCompiler)
        given = {name for name, placeholder in compiled.binds.items() if placeholder.required} | set(values)
        constants = {name: value for name, value in compiled.params.items() if name not in given}
        converters = {
            name: converter
            for name, placeholder in compiled.binds.items()
            if isinstance(placeholder.type, TypeDecorator)
            and (converter := placeholder.type.dialect_impl(self._dialect).bind_processor(self._dialect))
        }
        pieces = _LIMIT.split(str(compiled))
        binder = _binder(compiled.positiontup or [], constants, converters)
        return CompiledStatement(tuple(pieces[::2]), tuple(pieces[1::2]), binder)


@cache
def compiler(engine: str) -> Compiler:
    """Return the compiler of all connections to an engine, `sqlite` or `postgresql`."""
    if engine == "sqlite":
        return Compiler(_Sqlite(paramstyle="qmark"))
    return Compiler(_postgres())


def _binder(names: list[str], constants: Mapping[str, Any], converters: Mapping[str, Callable[[Any], Any]]) -> Binder:
    if not names:
        return lambda _: ()
    if converters or constants:

        def bind(values: Mapping[str, Any]) -> tuple[Any, ...]:
            found = ((name, constants[name] if name in constants else values[name]) for name in names)
            return tuple(converters[name](value) if name in converters else value for name, value in found)

        return bind
    if len(names) == 1:
        return lambda values: (values[names[0]],)
    return itemgetter(*names)
