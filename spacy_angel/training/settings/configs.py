"""The configs that ship: `configs/` of the project, `spacy_angel/configs/` of an installation."""

from pathlib import Path
from shutil import copyfile
from textwrap import shorten

from ...errors import AngelError

_PACKAGE = Path(__file__).parents[2]


def config_folder() -> Path:
    """RETURNS (Path): where they lie."""
    installed = _PACKAGE / "configs"
    return installed if installed.is_dir() else _PACKAGE.parent / "configs"


def shipped_configs() -> dict[str, str]:
    """RETURNS (dict[str, str]): names of the training configs, e.g. `mini/ncbi`, to the first
    lines of their files, sorted."""
    folder = config_folder()
    files = sorted(folder.rglob("*.cfg"), key=lambda path: path.relative_to(folder).parts)
    return {
        path.relative_to(folder).with_suffix("").as_posix(): _title(path)
        for path in files
        # Those of mention recognisers are for `spacy train`.
        if not path.name.startswith("ner_")
    }


def find_config(name_or_path: str) -> Path:
    """The file of a config.

    name_or_path (str): a file, or the name of one that ships, e.g. `mini/ncbi`.
    RETURNS (Path): the file.
    RAISES (AngelError): there is neither.
    """
    path = Path(name_or_path)
    if path.is_file():
        return path
    known = shipped_configs()
    if name_or_path.removesuffix(".cfg") in known:
        return config_folder() / f"{name_or_path.removesuffix('.cfg')}.cfg"
    raise AngelError(f"There is no config {name_or_path!r}. Shipped: {', '.join(known)}.")


def copy_configs(folder: Path) -> None:
    """Copy all configs, those of recognisers and of DeepSpeed too.

    folder (Path): made where it does not exist.
    RAISES (AngelError): one of the files is there already; then none is copied.
    """
    source = config_folder()
    files = [path for path in sorted(source.rglob("*")) if path.suffix in (".cfg", ".json", ".yml")]
    targets = [folder / path.relative_to(source) for path in files]
    if there := [target for target in targets if target.exists()]:
        raise AngelError(f"{there[0]} already exists. Give another folder.")
    for path, target in zip(files, targets, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        copyfile(path, target)


def _title(path: Path) -> str:
    with open(path, encoding="utf8") as file:
        return shorten(file.readline().strip("#\n "), 72, placeholder=" …")
