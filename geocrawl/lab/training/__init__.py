"""Train the shipped models from labelled pages, labelled addresses and recorded webs: `geocrawl train`."""
