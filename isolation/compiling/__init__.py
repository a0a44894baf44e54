"""From a plain Python function to compiled code, or to the reason why not."""
