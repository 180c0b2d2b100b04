"""Upgrade databases by Alembic's migrations, when one is opened for writing (`store/engine/database.py`)."""
