"""Features of candidates, and the ranker with NIL among its classes."""
