"""Words and cells that tables and pages share."""
