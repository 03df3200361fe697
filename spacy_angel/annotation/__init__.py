"""Batch annotation: files in a stream → shards of documents with links, on one machine or many.

inputs → documents ─ cut ─→ shards ─→ pipeline → links → bytes ─→ file, record beside it
                              └ one process, several, GPUs, or a Ray cluster
"""
