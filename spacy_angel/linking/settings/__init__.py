"""The settings of the linker, and the files that they refer to."""
