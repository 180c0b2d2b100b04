"""Pack the state and features of strategies as bytes: named arrays, and values of a page and its links."""
