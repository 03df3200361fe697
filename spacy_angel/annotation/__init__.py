"""Annotate large document sets: files are cut into shards, and each shard becomes one file of
documents with links. Finished shards are kept, so that an interrupted run continues."""
