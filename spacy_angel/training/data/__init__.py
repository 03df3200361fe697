"""Corpora and vocabularies to batches."""
