"""Split text into words and terms for all strategies: tokens, Han segmentation, stop words, stems, keywords."""
