"""Probe WMS-C: a WMS 1.1.1 with tile sets (OSGeo WMS Tiling Client Recommendation)."""
