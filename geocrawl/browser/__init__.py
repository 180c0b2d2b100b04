"""Run the scripts of pages in Chromium, which sends no request by itself: our fetcher answers each of them."""
