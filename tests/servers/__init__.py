"""geocrawl against real map servers on loopback: `make test-servers`."""
