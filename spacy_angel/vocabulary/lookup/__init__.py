"""Finding names: as typed, by string similarity, in running text, and for a search."""
