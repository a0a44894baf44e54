"""Files: atomic writes, temporary folders, and shipped data."""
