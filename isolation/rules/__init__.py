"""The game: boards of the toolkit and of the classic editions, notation, limits, outcomes, parameters and seeds."""
