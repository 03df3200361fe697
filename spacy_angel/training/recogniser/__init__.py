"""Training of mention recognisers."""
