"""Runtime library of generated modules: arithmetic, NumPy and sums over cells as in Python."""
