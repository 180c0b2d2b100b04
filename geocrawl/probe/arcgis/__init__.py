"""Probe ArcGIS REST services: folders, MapServer, ImageServer, FeatureServer."""
