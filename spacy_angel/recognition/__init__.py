"""The spaCy components that find mentions; they know no corpus."""
