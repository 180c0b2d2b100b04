"""Probe the OGC Catalogue Service for the Web (CSW), versions 2.0.2 and 3.0."""
