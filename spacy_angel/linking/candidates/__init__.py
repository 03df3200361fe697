"""The candidate generator: the search, string similarity and what need not be searched."""
