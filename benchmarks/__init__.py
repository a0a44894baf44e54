"""What takes too long for tests: measurements of speed, and attacks."""
