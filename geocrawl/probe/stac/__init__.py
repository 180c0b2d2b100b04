"""SpatioTemporal Asset Catalog: catalogues, collections and APIs."""
