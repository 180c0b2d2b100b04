"""Probe the OGC Web Map Tile Service (WMTS) 1.0.0, by query and RESTful."""
