"""One name, several species: disambiguating suffixes, and what a document says of them."""
