"""The two stages: positive-only, then negative-aware."""
