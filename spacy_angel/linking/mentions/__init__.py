"""From documents to mentions, and from mentions to queries."""
