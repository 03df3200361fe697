"""The corpus formats, with a module for each family of formats. `registry` lists them."""
