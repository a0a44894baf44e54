"""Published win and loss tables: read, and judged anew against the baseline of the same source."""
