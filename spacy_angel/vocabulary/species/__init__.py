"""Names shared by genes of several species: what the document says of their species."""
