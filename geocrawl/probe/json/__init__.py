"""Share code among kinds with JSON documents: classify an answer, request JSON in several forms, follow links."""
