"""Concepts, names, and identifiers, and the meanings of labels and types."""
