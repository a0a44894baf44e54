"""HTML reports with their charts and pictures."""
