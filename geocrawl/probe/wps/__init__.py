"""OGC Web Processing Service, versions 1.0.0 and 2.0."""
