"""What spaCy components share: settings that check themselves, batches, forked processes."""
