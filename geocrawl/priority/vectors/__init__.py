"""Vector spaces that strategies compare texts in: TF-IDF, and the centroid of a few start pages."""
