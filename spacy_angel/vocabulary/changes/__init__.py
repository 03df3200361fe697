"""What changes while running, and the rules of a curator."""
