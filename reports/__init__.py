"""Findings for people: tables, plots, pages, replays."""
