"""Probe SpatioTemporal Asset Catalogs (STAC): catalogues, collections and APIs."""
