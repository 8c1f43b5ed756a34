"""Plain NumPy twins of every kernel and solver: slow, short, read beside the paper."""
