"""Find candidates for services and portals in web archives: Common Crawl's columnar index, WAT and WARC files."""
