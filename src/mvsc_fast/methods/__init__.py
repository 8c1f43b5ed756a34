"""One file per method: its function on arrays and its estimator."""
