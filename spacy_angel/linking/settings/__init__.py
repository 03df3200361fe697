"""The settings of the linker."""
