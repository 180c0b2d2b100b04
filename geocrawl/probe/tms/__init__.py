"""OSGeo Tile Map Service 1.0.0."""
