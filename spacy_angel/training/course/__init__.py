"""The two stages: positive-only and negative-aware training."""
