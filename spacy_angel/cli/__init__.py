"""The command line: one file per command, with its arguments and what it prints."""
