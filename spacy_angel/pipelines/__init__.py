"""Whole pipelines: open, ship, calibrate on a corpus, assemble."""
