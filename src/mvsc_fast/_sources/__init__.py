"""Views that are read in blocks: from memory, files and Dask arrays."""
