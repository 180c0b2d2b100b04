"""Faults that a daemon is put through."""
