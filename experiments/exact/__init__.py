"""Results against perfect play: labels, accuracy, solved boards."""
