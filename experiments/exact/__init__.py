"""Results against perfect play: labels, accuracy, refutations, solved boards, and datasets for learning."""
