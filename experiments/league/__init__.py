"""Leagues of submissions: find, check, play and judge them."""
