"""The formats of corpora, one module for each family; `registry` lists them."""
