"""A web service and tools for language models, which share one open pipeline."""
