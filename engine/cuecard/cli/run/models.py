"""The model that `cuecard run` uses, by name."""

from __future__ import annotations

import re

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model

from cuecard.adapters.pydantic_models import framework_name
from cuecard.errors import InputError, Problem

_EXTRA = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`")
_EXAMPLE = "such as `anthropic:claude-opus-4-8`"


def chosen_model(name: str | None, option: str = "--model") -> Model:
    """The pydantic-ai model with this name.

    Args:
        name: `provider:model`; the provider may be left out for models that the models file knows.
        option: its name in errors.

    Raises:
        InputError: when the name is empty, there is no such model, a package is missing, or its key is not set.
    """
    if not name:
        hint = f"name one, {_EXAMPLE}, or set CUECARD_MODEL; `--model test` works without any service"
        raise InputError(Problem("no-model", "a chat needs a model", hint, option))
    if name == "scripted":
        hint = f"an agent file has no script: name a model, {_EXAMPLE}"
        raise InputError(
            Problem("wrong-model", "`scripted` only plays the scenarios of an assistant file", hint, option)
        )
    try:
        return infer_model(framework_name(name))
    except ImportError as error:
        extra = _EXTRA.search(str(error))
        hint = f'pip install "pydantic-ai-slim[{extra[1]}]"' if extra else "install the package of this provider"
        raise InputError(
            Problem("not-installed", f"`{name}`: the package of this provider is not installed", hint, option)
        ) from None
    except UserError as error:
        raise InputError(_refused(name, str(error), option)) from None
    except Exception as error:  # the providers' packages raise their own errors
        message = f"`{name}` cannot be used: {type(error).__name__}: {error}"
        raise InputError(
            Problem("wrong-model", message, "see the documentation of the provider's package", option)
        ) from error


def _refused(name: str, told: str, option: str) -> Problem:
    said = told.partition(" To try Pydantic AI")[0].rstrip(".")
    variable = _VARIABLE.search(said)
    if variable:
        message = f"`{name}` needs the environment variable {variable[1]}"
        return Problem("no-key", message, f"set {variable[1]} and run the command again", option)
    if said.startswith("Unknown model"):
        meant = re.search(r"Did you mean '([^']+)'", said)
        hint = f"did you mean `{meant[1]}`?" if meant else f"write `provider:model` as in pydantic-ai, {_EXAMPLE}"
        return Problem("wrong-model", f"`{name}`: there is no such model", hint, option)
    return Problem("wrong-model", f"`{name}` cannot be used: {said}", "see the provider's documentation", option)
