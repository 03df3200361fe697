"""Evaluation of pipelines and baselines on corpora."""
