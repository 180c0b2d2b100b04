"""Compare texts as vectors: TF-IDF, and the centroid of a few start pages."""
