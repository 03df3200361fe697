"""One module a format of vocabularies; `registry` lists them."""
