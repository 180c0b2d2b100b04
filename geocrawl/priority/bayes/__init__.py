"""`bayes`: rank links by a naive Bayes classifier over the words in and around a link (Han et al. 2010)."""
