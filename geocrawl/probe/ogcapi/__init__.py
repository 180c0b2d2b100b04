"""Probe OGC APIs: Features, Tiles, Maps, Records and the rest of the family."""
