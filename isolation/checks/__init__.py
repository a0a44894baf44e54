"""Checks of agents and engines, and their speed and cost."""
