"""Import the scripts outside the package as modules."""

import importlib.util
import sys
from types import ModuleType
from unittest.mock import patch

from .helpers import ROOT


def load_script(script: str) -> ModuleType:
    """script (str): a file in scripts/, benchmarks/ or tools/.
    RETURNS (ModuleType): the module."""
    path = ROOT / script
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with patch.object(sys, "path", [str(path.parent), *sys.path]):
        spec.loader.exec_module(module)
    return module
