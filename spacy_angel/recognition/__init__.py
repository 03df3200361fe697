"""The spaCy components that find mentions."""
