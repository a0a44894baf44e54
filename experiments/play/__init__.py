"""Playing a plan: workers, batches, what is done when one of them dies, and the ledger of results."""
