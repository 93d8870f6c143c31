"""Functions of a Python module as tools: their signature is the schema, their docstring what the model reads."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pydantic import ValidationError
from pydantic.errors import PydanticUserError
from pydantic_ai import RunContext, Tool
from pydantic_ai.exceptions import UserError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from cuecard.errors import CuecardError, InputError, Problem
from cuecard.model import Json, ToolCard, ToolResult


@dataclass(frozen=True, slots=True)
class ModuleTools:
    """The tools of a module: what the engine is told of them, and how they are called."""

    cards: tuple[ToolCard, ...]
    tools: Mapping[str, Tool[None]]

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolResult:
        """Call a function. Wrong arguments are a result with `is_error`, for the model to read; so is the type of
        whatever it raises, whose text is not for the model.

        Raises:
            CuecardError: when the function raises one, because then no run can go on.
        """
        schema = self.tools[name].function_schema
        try:
            checked = schema.validator.validate_python(dict(arguments))
        except ValidationError as error:
            return ToolResult(name, _told(error), is_error=True)
        try:
            value = await schema.call(checked, cast("RunContext[None]", None))  # no function here takes one
            return ToolResult(name, to_jsonable_python(value))
        except CuecardError:
            raise
        except PydanticSerializationError:
            return ToolResult(name, "the function returned a value that JSON cannot represent", is_error=True)
        except Exception as error:  # noqa: BLE001 - a tool may fail in any way, and the conversation goes on
            return ToolResult(name, type(error).__name__, is_error=True)


def module_tools(name: str, option: str) -> ModuleTools:
    """The tools of a module: the functions of its `__all__`, or else its public functions.

    Args:
        name: the module, as `import` takes it; found from the current folder on.
        option: what errors call it.

    Raises:
        InputError: when it cannot be imported, has no function, or one that cannot be a tool; with all of these.
    """
    functions = dict(_functions(_imported(name, option), name, option))
    if not functions:
        hint = "add public functions; imported ones count only if `__all__` names them"
        raise InputError(Problem("no-tools", f"the module `{name}` has no functions", hint, option))
    tools: dict[str, Tool[None]] = {}
    problems = []
    for key, function in functions.items():
        try:
            tools[key] = Tool(function, takes_ctx=False, name=key)
        except (UserError, PydanticUserError, TypeError, ValueError, NameError) as error:
            hint = "annotate its parameters with types that JSON can represent"
            told = str(error).partition("\n")[0]
            problems.append(Problem("wrong-tool", f"`{name}.{key}` cannot be a tool: {told}", hint, option))
    if problems:
        raise InputError(problems)
    return ModuleTools(tuple(_card(key, tool, name) for key, tool in tools.items()), tools)


def _imported(name: str, option: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        own = name == missing or name.startswith(f"{missing}.")
        hint = f"searched in {here} and among the installed packages" if own else f"it needs `{missing}`"
        message = f"there is no module `{name}`" if own else f"the module `{name}` cannot be imported: {error}"
        raise InputError(Problem("wrong-module", message, hint, option)) from None
    except Exception as error:  # a module may fail in any way
        told = f"the module `{name}` cannot be imported: {type(error).__name__}: {error}"
        raise InputError(Problem("wrong-module", told, "import it in Python for details", option)) from error


def _functions(module: ModuleType, name: str, option: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    named = getattr(module, "__all__", None)
    if named is None:
        for key, value in vars(module).items():
            if inspect.isfunction(value) and not key.startswith("_") and value.__module__ == module.__name__:
                yield key, value
        return
    for key in named:
        value = getattr(module, key, None)
        if value is None:
            message = f"`{name}.__all__` names `{key}`, which it does not define"
            raise InputError(Problem("wrong-module", message, "correct `__all__`", option))
        if inspect.isfunction(value):
            yield key, value


def _card(key: str, tool: Tool[None], module: str) -> ToolCard:
    definition = tool.tool_def
    return ToolCard(key, definition.description or "", definition.parameters_json_schema, source=module)


def _told(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = (f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in found)
    return "wrong arguments: " + "; ".join(lines)
