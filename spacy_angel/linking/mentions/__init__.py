"""Documents to mentions, and mentions to queries."""
