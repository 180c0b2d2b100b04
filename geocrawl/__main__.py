"""`python -m geocrawl`. The guard is for the processes that read answers, which import the main module again."""

from geocrawl.cli import main

if __name__ == "__main__":
    main()
