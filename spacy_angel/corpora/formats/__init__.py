"""One module a format of corpora; `registry` lists them."""
