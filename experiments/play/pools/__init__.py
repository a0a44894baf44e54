"""Worker pools: batches, workers, crashes, stalls, and recovery from them."""
