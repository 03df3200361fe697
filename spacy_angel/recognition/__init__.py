"""The spaCy component that finds mentions; it knows no corpus."""
