"""Pack what strategies keep as bytes: named arrays, and the features of a page and its links."""
