"""Vocabularies: concepts and names, file formats, storage, changes, and lookup."""
