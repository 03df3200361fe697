"""The error and the warning of this package, and messages that several of its parts share."""


class AngelError(ValueError):
    """Bad input or a wrong setting. The message says what was expected, what was found, and what
    to do."""


class AngelWarning(UserWarning):
    """A warning of this package, so that its warnings can be filtered by category."""


def cannot_read(path: object, error: object) -> str:
    """RETURNS (str): message for a file or folder that is missing or cannot be read."""
    return f"{path} cannot be read: {error}."


def unknown_name(kind: str, name: object, known: str) -> str:
    """RETURNS (str): message for a name that is none of the known ones."""
    return f"There is no {kind} {name!r}. Known: {known}."


def missing_package(what: str, package: str, extra: str) -> str:
    """RETURNS (str): message for a package that an extra installs."""
    return f"{what} needs the package {package}: pip install 'spacy-angel[{extra}]'."
