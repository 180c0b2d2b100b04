"""Create the first schema: frontier, hosts, catalogue, full text. `store/schema` explains the columns."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, LargeBinary, String, text

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _bookkeeping()
    _hosts()
    _services()
    _endpoints()
    _urls()
    _full_text()


def _bookkeeping() -> None:
    op.create_table("meta", Column("name", String, primary_key=True), Column("value", LargeBinary, nullable=False))
    op.create_table("counter", Column("name", String, primary_key=True), _integer("value"), sqlite_with_rowid=False)
    op.create_table(
        "run",
        Column("id", Integer, primary_key=True),
        _real("started_at"),
        Column("ended_at", Float),
        _text("owner"),
        _text("strategy"),
        _text("settings"),
        Column("pages", Integer),
        Column("services", Integer),
        Column("stopped", String),
    )
    op.create_table(
        "robots",
        Column("origin", String, primary_key=True),
        Column("status", Integer),
        Column("body", String),
        _real("fetched_at"),
        _real("expires_at"),
    )


def _hosts() -> None:
    op.create_table(
        "host",
        Column("id", Integer, primary_key=True),
        Column("name", String, nullable=False, unique=True),
        _real("next_at", "0"),
        _integer("errors", "0"),
        _real("last_error_at", "0"),
        Column("crawl_delay_s", Float),
        _integer("parked", "0"),
        _integer("waiting", "0"),
        _integer("best_tier", "0"),
        _real("best_score", "0"),
        _integer("turn", "0"),
        _integer("pages", "0"),
        _real("lease_until", "0"),
        _integer("lease_token", "0"),
        Column("lease_url", Integer),
        Column("lease_owner", String),
    )
    working = text("waiting > 0 AND lease_until = 0")
    head = [text("best_tier DESC"), text("best_score DESC")]
    op.create_index("host_ready", "host", ["parked", *head, "turn", "next_at"], sqlite_where=working)
    op.create_index("host_rest", "host", ["parked", "next_at"], sqlite_where=working)
    op.create_index("host_leased", "host", ["lease_until"], sqlite_where=text("lease_until > 0"))


def _services() -> None:
    op.create_table(
        "service",
        Column("id", Integer, primary_key=True),
        *(_text(name) for name in ("kind", "fingerprint", "site", "title", "abstract", "keywords", "provider")),
        *(_text(name) for name in ("contact", "fees", "access_constraints", "version", "formats", "online_resource")),
        _integer("layer_count"),
        *_box(),
        _real("first_seen"),
        _real("last_ok"),
    )
    op.create_index("service_same", "service", ["kind", "fingerprint", "site"])
    op.create_table(
        "layer",
        Column("service_id", Integer, ForeignKey("service.id"), primary_key=True),
        Column("position", Integer, primary_key=True),
        Column("parent", Integer),
        *(_text(name) for name in ("name", "title", "abstract", "crs", "styles", "keywords")),
        _integer("queryable"),
        *_box(),
    )


def _endpoints() -> None:
    op.create_table(
        "endpoint",
        Column("id", Integer, primary_key=True),
        *(_text(name) for name in ("kind", "key", "url", "host", "site")),
        _integer("weak"),
        Column("service_id", Integer, ForeignKey("service.id")),
        *(Column(name, String) for name in ("status", "reason", "detail", "version", "deviations")),
        Column("http_status", Integer),
        _real("first_seen"),
        Column("last_probe", Float),
        Column("last_ok", Float),
        _integer("probes", "0"),
        sa.UniqueConstraint("kind", "key"),
    )
    op.create_index("endpoint_key", "endpoint", ["key"])
    op.create_index("endpoint_service", "endpoint", ["service_id"])
    op.create_table(
        "probe",
        Column("id", Integer, primary_key=True),
        Column("endpoint_id", Integer, ForeignKey("endpoint.id"), nullable=False),
        _real("at"),
        *(_text(name) for name in ("status", "reason", "detail")),
        Column("http_status", Integer),
        *(_text(name) for name in ("content_type", "first_bytes")),
        _real("elapsed_ms"),
        _integer("requests"),
        _text("deviations"),
    )
    op.create_index("probe_endpoint", "probe", ["endpoint_id", "at"])
    op.create_table(
        "evidence",
        Column("id", Integer, primary_key=True),
        Column("endpoint_id", Integer, ForeignKey("endpoint.id"), nullable=False),
        *(_text(name) for name in ("signal", "page", "link", "anchor")),
        _real("at"),
        sa.UniqueConstraint("endpoint_id", "page", "link"),
    )


def _urls() -> None:
    op.create_table(
        "url",
        Column("id", Integer, primary_key=True),
        Column("key", BigInteger, nullable=False, unique=True),
        *(_text(name) for name in ("address", "purpose")),
        Column("host_id", Integer, ForeignKey("host.id"), nullable=False),
        _text("state"),
        Column("reason", String),
        _integer("depth"),
        _integer("tier"),
        _real("score"),
        Column("found_on", Integer),
        *(Column(name, String) for name in ("anchor", "found_in")),
        _integer("hops", "0"),
        _integer("attempts", "0"),
        Column("endpoint_id", Integer, ForeignKey("endpoint.id")),
        Column("retry_at", Float),
        _real("first_seen"),
        Column("settled_at", Float),
        Column("http_status", Integer),
        Column("content_type", String),
        Column("size_bytes", Integer),
        Column("elapsed_ms", Float),
        Column("title", String),
        Column("relevance", Integer),
        Column("page_score", Float),
    )
    queue: list[str | sa.TextClause] = ["host_id", text("tier DESC"), text("score DESC")]
    op.create_index("url_queue", "url", queue, sqlite_where=text("state = 'waiting'"))
    op.create_index("url_retry", "url", ["purpose", "retry_at"], sqlite_where=text("retry_at IS NOT NULL"))
    op.create_index("url_endpoint", "url", ["endpoint_id"], sqlite_where=text("endpoint_id IS NOT NULL"))
    op.create_index("url_failed", "url", ["settled_at"], sqlite_where=text("state = 'failed'"))
    op.create_index("url_seed", "url", ["id"], sqlite_where=text("depth = 0"))
    op.create_table(
        "outlinks", Column("url_id", Integer, primary_key=True), Column("links", LargeBinary, nullable=False)
    )
    op.create_table(
        "query_group", Column("key", BigInteger().with_variant(Integer, "sqlite"), primary_key=True), _integer("seen")
    )


def _full_text() -> None:
    """Create the full-text index (SQLite's FTS5), with a row for each service under the service's id."""
    op.execute(
        "CREATE VIRTUAL TABLE service_text USING fts5"
        "(title, abstract, keywords, provider, layers, tokenize = 'porter unicode61 remove_diacritics 2')"
    )


def _text(name: str) -> "Column[str]":
    return Column(name, String, nullable=False)


def _integer(name: str, default: str | None = None) -> "Column[int]":
    return Column(name, Integer, nullable=False, server_default=default)


def _real(name: str, default: str | None = None) -> "Column[float]":
    return Column(name, Float, nullable=False, server_default=default)


def _box() -> "list[Column[float]]":
    return [Column(side, Float) for side in ("west", "south", "east", "north")]
