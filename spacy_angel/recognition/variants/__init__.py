"""Sequence variants: a grammar and normal forms."""
