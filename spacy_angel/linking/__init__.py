"""The spaCy components that link mentions and match names."""
