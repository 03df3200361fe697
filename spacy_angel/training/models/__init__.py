"""Models, losses, and evaluation during training."""
