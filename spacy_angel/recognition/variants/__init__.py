"""Sequence variants: what they look like in print, and their normal form."""
