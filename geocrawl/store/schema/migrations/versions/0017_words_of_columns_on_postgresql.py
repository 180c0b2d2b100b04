"""Look words up by the column in which they stand on PostgreSQL, too; services are indexed anew by the next crawl."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute("ALTER TABLE search_text ADD COLUMN fields tsvector NOT NULL DEFAULT ''")
    op.execute("ALTER TABLE search_text ALTER COLUMN fields DROP DEFAULT")
    op.execute("CREATE INDEX search_text_fields ON search_text USING gin (fields)")
    op.execute("INSERT INTO search_change (service_id) SELECT id FROM service ON CONFLICT DO NOTHING")
