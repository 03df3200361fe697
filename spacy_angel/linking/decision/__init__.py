"""From probabilities to links, and from links to attributes of the document."""
