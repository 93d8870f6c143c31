"""What an adapter needs of a framework, and which versions have it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from cuecard.errors import InputError, Problem


@contextmanager
def needs(package: str, works: str, extra: str) -> Iterator[None]:
    """Around the imports of a framework: what is missing is told with the version that has it.

    Args:
        package: the framework's name on PyPI.
        works: the versions that work, such as `>=1.4`.
        extra: the extra of cuecard that installs one.

    Raises:
        InputError: when the framework is not installed, or its version lacks what is imported.
    """
    try:
        yield
    except ImportError as error:
        told = f"{package} {_installed(package)}, and the adapter needs {package}{works}: {error}"
        hint = f'run `pip install "cuecard[{extra}]"`'
        raise InputError(Problem("not-installed", told, hint, f"cuecard.adapters.{extra}")) from error


def _installed(package: str) -> str:
    try:
        return f"{version(package)} is installed"
    except PackageNotFoundError:
        return "is not installed"
