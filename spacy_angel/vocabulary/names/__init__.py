"""Concepts, their names and identifiers, and what labels and types stand for."""
