"""Encoder-decoders and their prompts, as the search uses them."""
