"""Parts shared by all spaCy components: settings, devices, batches, cleaning of texts."""
