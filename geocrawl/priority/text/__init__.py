"""Text to words and terms, shared by every strategy: tokens, Han segmentation, stop words, stems, keywords."""
