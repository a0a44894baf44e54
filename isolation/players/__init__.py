"""Agents and the players they open."""
