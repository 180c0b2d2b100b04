"""OGC Web Coverage Service, versions 1.0.0 to 2.0.1."""
