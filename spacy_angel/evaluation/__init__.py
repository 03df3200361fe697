"""A system and a corpus become figures and a report."""
