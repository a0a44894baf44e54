"""What runs say: their games read as one, effort, comparisons with the baseline, sequential tests."""
