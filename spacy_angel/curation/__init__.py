"""A curator's rules: read from a file, laid over a vocabulary, checked against one."""
