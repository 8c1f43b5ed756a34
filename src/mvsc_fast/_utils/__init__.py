"""Utilities for all folders: threads, validation, messages, progress, documentation."""
