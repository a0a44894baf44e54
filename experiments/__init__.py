"""Designing, running and recording tournaments, and inferring from what they record."""
