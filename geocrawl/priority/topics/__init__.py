"""Topics to crawl for: the directory of topics, a topic as vectors, and the page filter."""
