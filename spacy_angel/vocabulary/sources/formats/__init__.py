"""Formats of vocabularies, one module each; `registry` lists them."""
