"""Whether a client or framework is of a version that the adapters were tested with."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distributions, version
from typing import Any

from cuecard.errors import InputError, Problem
from cuecard.model.boundary import checked

# Both are written by `make lock`: floors from pyproject.toml, versions from requirements/dev.lock.
TRIED: Mapping[str, str] = {"anthropic": "2.11.0", "boto3": "1.44.5", "google-genai": "2.34.0", "openai": "3.52.0"}
"""The versions of clients that the tests run."""
TESTED: Mapping[str, tuple[str, str]] = {
    "google-adk": ("2.13", "2.13.0"),
    "langchain": ("1.4", "1.4.7"),
    "langgraph": ("1.2.11", "1.2.22"),
    "litellm": ("1.83", "1.83.0"),
    "mcp": ("2", "2.3.0"),
    "openai-agents": ("0.24", "0.24.0"),
    "pydantic-ai-slim": ("2.62", "2.68.0"),
}
"""The ranges that the adapters of frameworks were tested with: the oldest version that works, and the newest tried."""

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
    operation = getattr(meta, "method_to_api_mapping", {}).get(getattr(create, "__name__", ""))
    if meta and operation:  # a client of boto3 takes what its data say
        members: Iterable[str] = meta.service_model.operation_model(operation).input_shape.members
        return members
    parameters = inspect.signature(create).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return None if takes_any else parameters


def _problem(create: Callable[..., Any], key: str) -> Problem:
    package = _PACKAGES.get(str(create.__module__).partition(".")[0], "")
    told = f"`{getattr(create, '__name__', 'the client')}` of {_installed_client(package)} does not take `{key}`"
    needed = f"install {package} {TRIED[package]} or later" if package else "install a newer one"
    return Problem("not-installed", told, f"{needed}, or leave `{key}` out of the body", f"body.{key}")


def _installed_client(package: str) -> str:
    return f"{package} {_version_of(package) or ''}".strip() if package else "this client"


@contextmanager
def needs(package: str, extra: str, module: str) -> Iterator[None]:
    """Around the imports of a framework: what is missing or too old is told with the versions that work.

    Args:
        package: the framework's name on PyPI, one of `TESTED`.
        extra: the extra of cuecard that installs it.
        module: the module that needs it, for the error.

    Raises:
        InputError: when the framework is not installed, is too old, or lacks what is imported.
    """
    check_version(package, extra, module)
    try:
        yield
    except ImportError as error:
        installed = _version_of(package)
        there = f"{installed} is installed" if installed else "is not installed"
        told = f"{package} {there}, and the adapter needs {package}>={TESTED[package][0]}: {error}"
        raise InputError(Problem("not-installed", told, _way_out(package, extra), module)) from error


def check_version(package: str, extra: str, place: str) -> None:
    """Check a package for the versions that work here; one that is not installed passes.

    A newer major version than any that was tried is told by a `UserWarning`: it may work.

    Args:
        package: its name on PyPI, one of `TESTED`.
        extra: the extra of cuecard that installs it.
        place: what needs it, for the error.

    Raises:
        InputError: when it is too old.
    """
    floor, newest = TESTED[package]
    installed = _version_of(package)
    if installed is None:
        return
    if _numbers(installed) < _numbers(floor):
        told = f"{package} {installed} is installed, and `{place}` needs {package}>={floor}"
        raise InputError(Problem("not-installed", told, _way_out(package, extra), place))
    if _numbers(installed)[:1] > _numbers(newest)[:1]:
        told = f"{package} {installed} is newer than any that cuecard was tested with ({floor} to {newest})"
        warnings.warn(told, UserWarning, stacklevel=1)  # from one line, whoever asks: filters tell it once a process


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> tuple[int, ...]:
    """The release that a version belongs to, without zeros at its end."""
    release = re.split(r"[^\d.]", text.rpartition("!")[2])[0]
    numbers = [int(part) for part in release.split(".") if part]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _way_out(package: str, extra: str) -> str:
    """What to install; where another package holds this one back, in an environment of its own."""
    needed = f'pip install "cuecard[{extra}]"'
    pins = re.compile(rf"{re.escape(package)}(?![\w.-])(?:\[[^]]*\])?\s*\(?([^;)]*(?:<|==|~=)[^;)]*)", re.IGNORECASE)
    held = sorted(
        f"{each.name} {each.version} wants {package}{found[1].strip()}"
        for each in distributions()
        for wanted in each.requires or ()
        if "extra ==" not in wanted and (found := pins.match(wanted))
    )
    if not held:
        return f"run `{needed}`"
    return f"{'; '.join(held[:3])}: run `{needed}` in an environment of its own (`uv venv`, `python -m venv`)"
