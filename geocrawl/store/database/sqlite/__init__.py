"""SQLite, in a file or in memory: the engine for one machine."""
