"""OGC Web Map Service, versions 1.0.0 to 1.3.0."""
