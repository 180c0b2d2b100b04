"""Probe TileJSON, versions 1.0 to 3.0."""
