"""Look after a database: backup, retention, opting out, outages, the daemon's lock, its start pages."""
