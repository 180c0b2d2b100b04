"""OGC API: Features, Tiles, Maps, Records and the rest of its family."""
