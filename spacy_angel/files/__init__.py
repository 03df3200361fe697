"""Files: reading by pieces, streaming JSON and XML, atomic writing, options."""
