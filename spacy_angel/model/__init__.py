"""Encoder-decoders and their prompts as the search sees them."""
