"""The reranker and its features."""
