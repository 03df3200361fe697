"""Probabilities to links, and links onto the document."""
