"""Published results: parse and reanalyse them."""
