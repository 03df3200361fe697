"""What setup.cfg cannot say: the metadata by which spaCy finds the pipelines that ship.

`spacy.load("en_angel_mini")` asks for an installed distribution of that name and has no entry
point for it. So the wheel, or the checkout where it is installed to be edited, gets the metadata of
one for each, beside that of the package itself.
"""

from configparser import ConfigParser
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

NAMES = ("en_angel_bio", "en_angel_mini")
METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: A pipeline that comes with spacy-angel, where spaCy looks for installed pipelines
"""


class BuildWithNames(build_py):
    """Writes metadata under the name of each pipeline."""

    def run(self) -> None:
        super().run()
        config = ConfigParser()
        config.read("setup.cfg", encoding="utf8")
        for name in NAMES:
            folder = Path("." if self.editable_mode else self.build_lib, f"{name}.egg-info")
            folder.mkdir(exist_ok=True)
            text = METADATA.format(name=name, version=config["metadata"]["version"])
            (folder / "PKG-INFO").write_text(text, encoding="utf8")


setup(cmdclass={"build_py": BuildWithNames})
