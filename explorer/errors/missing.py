"""Libraries that only a part of the explorer needs: where one is not there, one line says which, and what to install."""

from __future__ import annotations

from importlib.util import find_spec

from explorer.errors import MissingError


def missing(feature: str, library: str | None) -> MissingError:
    """The error for something that was asked for and needs a library (or a part of one) that is not installed.

    >>> str(missing("ex.show", "ipywidgets.widgets"))
    'ex.show needs ipywidgets, which is not installed here. Install it with: pip install ipywidgets'
    """
    name = str(library).partition(".")[0]
    return MissingError(f"{feature} needs {name}, which is not installed here. Install it with: pip install {name}")


def check_installed(feature: str, *libraries: str) -> None:
    """Refuse what needs a library that is not installed; none of them is imported to find out."""
    for library in libraries:
        if find_spec(library) is None:
            raise missing(feature, library)
