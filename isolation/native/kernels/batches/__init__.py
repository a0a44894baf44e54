"""Kernels for many positions or games in one call."""
