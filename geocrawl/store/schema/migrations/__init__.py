"""Alembic's migrations, applied when a database is opened for writing (`store/engine/database.py`)."""
