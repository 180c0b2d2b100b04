"""Maintain a database: backup, retention, opt-outs, undoing outages, the daemon lock, the daemon's start pages."""
