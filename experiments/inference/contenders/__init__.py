"""Inference about contenders and their baseline on shared openings."""
