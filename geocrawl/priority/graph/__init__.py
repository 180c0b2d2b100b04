"""The link graph of visited pages, and what strategies share that iterate over it (HITS, PageRank)."""
