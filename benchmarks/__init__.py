"""Benchmarks and attacks that take too long for tests."""
