"""Whole pipelines: loading, assembling, calibrating, and applying them to tables."""
