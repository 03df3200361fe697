"""Streaming readers, file formats and their options, and atomic writes."""
