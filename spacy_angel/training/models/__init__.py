"""Models that learn, their losses, and what they would answer."""
