"""Genes of several species with the same name: the species of a document."""
