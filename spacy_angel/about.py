"""What the package is called, its version, and where the files that ship with it lie."""

from pathlib import Path

__version__ = "0.2.0"
SHIPPED_NAME = "en_angel_mini"
SHIPPED_NAMES = (SHIPPED_NAME, "en_angel_bio")
"""Pipelines in the package; the first is the one where nothing is said, and has the linker's model
of them all."""
DATA = Path(__file__).parent / "data"
