"""Probe the OGC Web Coverage Service (WCS), versions 1.0.0 to 2.0.1."""
