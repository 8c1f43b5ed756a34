"""Plain NumPy twins of every kernel and solver: slow, short, and read side by side with the paper."""
