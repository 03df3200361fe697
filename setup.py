"""What setup.cfg cannot say: the wheel holds the metadata by which `spacy.load("en_angel_mini")`
and `spacy.load("en_angel_bio")` find packages of these names."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ALIASES = ("en_angel_mini.egg-info", "en_angel_bio.egg-info")


class BuildWithAliases(build_py):
    """Copies the metadata beside the packages."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for alias in ALIASES:
                shutil.copytree(alias, Path(self.build_lib, alias), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithAliases})
