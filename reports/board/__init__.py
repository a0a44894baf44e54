"""The analysis board: a page on this machine's own address, and what answers it."""
