"""What every folder may use: threads, validation, messages, progress, documentation."""
