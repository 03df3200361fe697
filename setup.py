"""What setup.cfg cannot say: the wheel holds the metadata by which `spacy.load("en_angel_mini")`
finds a package of that name."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ALIAS = "en_angel_mini.egg-info"


class BuildWithAlias(build_py):
    """Copies the metadata beside the packages."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree(ALIAS, Path(self.build_lib, ALIAS), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithAlias})
