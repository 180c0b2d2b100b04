"""Define topics (the directory of topics, topic vectors) and measure how near a page or a link is to a topic."""
