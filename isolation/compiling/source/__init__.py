"""Source code of heuristics: its functions, scopes and errors."""
