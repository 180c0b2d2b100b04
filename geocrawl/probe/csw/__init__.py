"""OGC Catalogue Service for the Web, versions 2.0.2 and 3.0."""
