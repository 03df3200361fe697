"""One open pipeline for many callers: a web service, and tools for language models."""
