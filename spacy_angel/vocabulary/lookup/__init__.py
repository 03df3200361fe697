"""Lookup of names: as typed, by string similarity, in running text, and for the search."""
