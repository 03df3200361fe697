"""Training of recognizers."""
