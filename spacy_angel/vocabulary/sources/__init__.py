"""Published vocabularies: fetching, reading, building, and comparing them."""
