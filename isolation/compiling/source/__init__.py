"""Source code of heuristics: its functions and scopes, what its values depend on, and how it is rewritten."""
