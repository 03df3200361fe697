"""From corpora and vocabularies to batches."""
