"""Show layers live: a proxy that asks the services of the catalogue alone, as politely as a crawl."""
