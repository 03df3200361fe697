"""Files: reading in pieces, streaming JSON and XML, formats and their options, atomic writes."""
