"""A vocabulary on disk: columns of names and concepts, and tries of names as tokens."""
