"""A vocabulary on disk: tables of names and concepts, and tries of tokenized names."""
