"""What compiled code is made of: sets of cells, positions, search kernels, and what generated modules import."""
