"""Run Alembic's migrations.

At run time `database.upgrade` passes a connection with its transaction. On the command line (`make schema-check`) an
argument names the database file, and the migrations are compared with the tables, for which SQLModel is imported:
`alembic -x db=FILE upgrade head`, `alembic -x db=FILE check`, `alembic -x db=FILE revision --autogenerate -m "…"`.
"""

from typing import Any

from alembic import context
from sqlalchemy import Column, Connection, create_engine, text

from geocrawl.store.database.views import CREATE_VIEWS


def _run(connection: Connection) -> None:
    """Run the migrations without views, and then make all views: they name columns of the newest tables."""
    for name in CREATE_VIEWS:
        connection.execute(text(f"DROP VIEW IF EXISTS {name}"))
    context.run_migrations()
    for view in CREATE_VIEWS.values():
        connection.execute(view)


def _on_the_command_line() -> None:
    from geocrawl.store.database.schema.models import METADATA

    # SQLite's reflection of indexes lacks descending columns and WHERE: tests compare these with `sqlite_master`.
    descending = {
        index.name
        for table in METADATA.tables.values()
        for index in table.indexes
        if not all(isinstance(expression, Column) for expression in index.expressions)
    }

    def is_compared(_: object, name: str | None, kind: str, *__: object) -> bool:
        if kind == "index":
            return name not in descending
        return not (kind == "table" and name and name.startswith(("search_text", "search_word")))  # FTS5's own tables

    path = context.get_x_argument(as_dictionary=True).get("db")
    if not path:
        raise SystemExit("name a database: alembic -x db=FILE …")
    with create_engine(f"sqlite:///{path}").connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=METADATA,
            include_object=is_compared,
            compare_type=True,
            compare_server_default=True,
        )
        _run(connection)
        connection.commit()


handed_over: Any = context.config.attributes.get("connection")
if handed_over is None:
    _on_the_command_line()
else:
    context.configure(connection=handed_over)
    _run(handed_over)
