"""Probe the OGC Web Map Service (WMS), versions 1.0.0 to 1.3.0."""
