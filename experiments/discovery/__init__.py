"""Discover evaluation functions: a search over set programs, judged by the wins that they keep at equal cost."""
