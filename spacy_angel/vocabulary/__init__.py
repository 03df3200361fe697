"""Concepts and names: file formats, storage, changes, and tries."""
