"""Similarities kept where their tubes are longest: factors, graphs, embeddings."""
