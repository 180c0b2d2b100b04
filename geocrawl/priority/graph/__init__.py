"""Keep the link graph of visited pages, iterate over it (HITS, PageRank, IPageRank) and rank links by the result."""
