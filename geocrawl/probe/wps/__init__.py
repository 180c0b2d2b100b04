"""Probe the OGC Web Processing Service (WPS), versions 1.0.0 and 2.0."""
