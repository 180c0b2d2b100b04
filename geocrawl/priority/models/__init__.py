"""Read and write trained models: readable JSON with a format, a version and the record of the training."""
