"""Say what a topic is (the directory of topics, topic vectors) and how near a page or a link is to it."""
