"""What charts show, decided once: rows, order, ticks, colour roles and words; pages and `plots` draw them."""
