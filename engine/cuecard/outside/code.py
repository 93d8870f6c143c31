"""The host's own objects that a file names as `package.module:name`; imported only if the host allows code."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import TypeAlias

from cuecard.errors import Problem, SpecError

Describe: TypeAlias = Callable[[str, str], Problem]
"""Turns a message and a hint into a problem at the place that names the object."""


def named_object(written: str, describe: Describe) -> object:
    """The object that `package.module:name` names.

    Raises:
        SpecError: when there is no such module or name, or when importing it fails.
    """
    module, _, name = written.partition(":")
    try:
        return attrgetter(name)(import_module(module))
    except ModuleNotFoundError as error:
        hint = "install it, or add its folder to Python's path: PYTHONPATH=FOLDER"
        raise SpecError(describe(f"there is no module `{error.name}`", hint)) from None
    except AttributeError:
        raise SpecError(describe(f"the module `{module}` has no `{name}`", "name something that it defines")) from None
    except Exception as error:
        message = f"`{module}` cannot be imported: {type(error).__name__}: {error}"
        raise SpecError(describe(message, "fix it, or remove it")) from error
