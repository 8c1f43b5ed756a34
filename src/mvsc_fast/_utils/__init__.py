"""Utilities for all folders: threads, validation, messages, progress, parts of results, figures."""
