"""Show the catalogue to people: search, services, operations, statistics."""
