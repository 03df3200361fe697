"""Tables, pages, and explanations of links."""
