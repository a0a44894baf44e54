"""Rules: geometry, notation, FEN, outcomes, limits, parameters and seeds."""
