"""Contents of charts, for pages and `plots` alike: rows, order, ticks, colour roles and words."""
