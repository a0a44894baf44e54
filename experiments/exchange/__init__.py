"""Import, export and selection of games."""
