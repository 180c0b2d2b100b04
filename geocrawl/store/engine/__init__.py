"""Open, lock, read and describe the database: the only package that knows SQLite."""
