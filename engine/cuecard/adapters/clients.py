"""Whether a client or framework is new enough."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cuecard.errors import InputError, Problem
from cuecard.model.boundary import checked

TRIED: Mapping[str, str] = {"anthropic": "2.11.0", "boto3": "1.44.5", "google-genai": "2.34.0", "openai": "3.52.0"}
"""The versions of clients that the tests run."""

_PACKAGES = {"anthropic": "anthropic", "botocore": "boto3", "google": "google-genai", "openai": "openai"}


@checked
def check_client(create: Callable[..., Any], body: Mapping[str, Any]) -> None:
    """Check that the client's method knows every part of a body, which an older client may not.

    Args:
        create: the method, such as `client.messages.create` or `client.converse`.
        body: what a request function made.

    Raises:
        InputError: naming each part that the method does not take, and the version that is known to work.
    """
    known = _known(create)
    missing = [] if known is None else [key for key in body if key not in known]
    if missing:
        raise InputError([_problem(create, key) for key in missing])


def _known(create: Callable[..., Any]) -> Iterable[str] | None:
    """The parts that the method takes; None where it takes any."""
    meta = getattr(getattr(create, "__self__", None), "meta", None)
    if meta is not None and hasattr(meta, "method_to_api_mapping"):  # a client of boto3 takes what its data say
        operation = meta.method_to_api_mapping.get(getattr(create, "__name__", ""), "")
        members: Iterable[str] = meta.service_model.operation_model(operation).input_shape.members
        return members
    parameters = inspect.signature(create).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return None if takes_any else parameters


def _problem(create: Callable[..., Any], key: str) -> Problem:
    package = _PACKAGES.get(getattr(create, "__module__", "").partition(".")[0], "")
    told = f"`{getattr(create, '__name__', 'the client')}` of {_installed_client(package)} does not take `{key}`"
    needed = f"install {package} {TRIED[package]} or later" if package else "install a newer one"
    return Problem("not-installed", told, f"{needed}, or leave `{key}` out of the body", f"body.{key}")


def _installed_client(package: str) -> str:
    try:
        return f"{package} {version(package)}" if package else "this client"
    except PackageNotFoundError:
        return package


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
