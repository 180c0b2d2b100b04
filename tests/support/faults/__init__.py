"""Faults that a daemon is put through, one file a cause; each function returns a row of the fault table."""
