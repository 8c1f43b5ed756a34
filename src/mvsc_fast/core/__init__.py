"""The compiled core: knows no Python, allocates nothing, returns codes."""
