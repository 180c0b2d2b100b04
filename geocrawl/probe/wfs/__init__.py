"""Probe the OGC Web Feature Service (WFS), versions 1.0.0 to 2.0.2."""
