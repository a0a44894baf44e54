"""HTML reports and the charts and pictures in them."""
