"""Write the files derived from the tables: `python -m geocrawl.store.schema`, in the folder of the sources."""

from __future__ import annotations

from pathlib import Path

from geocrawl.store.schema.layout import schema_sql
from geocrawl.store.schema.postgres import postgres_sql
from geocrawl.store.schema.reference import with_tables


def main() -> None:
    """Write `schema.sql`, `postgres.sql` and the tables' part of docs/database.md."""
    Path(__file__).with_name("schema.sql").write_text(schema_sql(), encoding="utf-8")
    Path(__file__).with_name("postgres.sql").write_text(postgres_sql(), encoding="utf-8")
    page = Path("docs/database.md")
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
