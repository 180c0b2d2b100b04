"""OGC Web Feature Service, versions 1.0.0 to 2.0.2."""
