"""What the package is called, its version, and where the files that ship with it lie."""

from pathlib import Path

__version__ = "0.1.0"
SHIPPED_NAME = "en_angel_mini"
DATA = Path(__file__).parent / "data"
