"""PostgreSQL 15 and later: the engine for many workers on several machines."""
