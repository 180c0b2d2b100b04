"""Probe the OSGeo Tile Map Service (TMS) 1.0.0."""
