"""`python -m geocrawl`."""

from geocrawl.cli import main

main()
