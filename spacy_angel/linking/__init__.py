"""The spaCy components that link mentions or match names; they know no corpus."""
