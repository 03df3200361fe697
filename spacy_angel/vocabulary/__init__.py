"""Concepts and names: file formats, columns, changes, tries."""
