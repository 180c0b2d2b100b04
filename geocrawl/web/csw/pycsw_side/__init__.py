"""What pycsw's interpreter runs. It imports nothing of geocrawl, which is not installed there."""
