"""The spaCy component: documents in, identifiers out; it knows no corpus."""
