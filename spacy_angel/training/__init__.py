"""Training in two stages: positive-only, then negative-aware (ANGEL, section 3.2).

Nothing here imports spaCy or scispaCy, and only the negative-aware stage imports trl.
"""
