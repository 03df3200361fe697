"""Names under a constraint: the model walks the trie."""
