"""From publishers' files to stored vocabularies, and from one version to the next."""
