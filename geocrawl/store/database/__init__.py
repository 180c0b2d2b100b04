"""Open, lock, read and describe the database: the only package that uses SQLite."""
