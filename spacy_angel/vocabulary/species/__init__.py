"""Species context: distinguishes genes with the same name by the species of the document."""
