"""OGC Web Map Tile Service 1.0.0, by query and RESTful."""
