"""Beam search constrained to the names of a vocabulary."""
