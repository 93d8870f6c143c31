"""The inputs of a turn against those that the agent file declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cuecard.config.input_types import is_of_type
from cuecard.errors import Problem, did_you_mean, visible
from cuecard.model import Json
from cuecard.template import refuse_controls

if TYPE_CHECKING:  # the configuration models load pydantic
    from cuecard.config.agent_file import InputSpec

_SHOWN = 60


def input_problems(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> Iterator[Problem]:
    """Every missing, unknown or wrongly typed input, and every control character in one."""
    yield from _unknown(supplied, declared, "turn.inputs")
    yield from _missing(supplied, declared)
    yield from _mistyped(supplied, declared, "turn.inputs")
    yield from refuse_controls(supplied, "turn.inputs")


def step_input_problems(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> Iterator[Problem]:
    """The same for inputs that come with a request: only those that are declared for that may."""
    yield from _unknown(supplied, declared, "inputs")
    for name in supplied:
        if name in declared and declared[name].tier != "step":
            message = f"`{name}` cannot change between the requests of a turn"
            hint = "pass it with the user message; or declare it with `tier: step` in the agent file"
            yield Problem("not-a-step-input", message, hint, "inputs")
    yield from _mistyped(supplied, declared, "inputs")
    yield from refuse_controls(supplied, "inputs")


def _unknown(supplied: Mapping[Any, Json], declared: Mapping[str, InputSpec], at: str) -> Iterator[Problem]:
    for name in supplied:
        if isinstance(name, str) and name not in declared:
            message = f"`{visible(name)}` is not an input of this agent"
            yield Problem("unknown-input", message, did_you_mean(name, declared), at)


def _missing(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> Iterator[Problem]:
    for name, spec in declared.items():
        if spec.required and name not in supplied:
            yield Problem("missing-input", f"`{name}` has no value and no default", _way_out(name, spec), "turn.inputs")


def _mistyped(supplied: Mapping[Any, Json], declared: Mapping[str, InputSpec], at: str) -> Iterator[Problem]:
    for name, value in supplied.items():
        spec = declared.get(name) if isinstance(name, str) else None
        if spec and not is_of_type(value, spec.type):
            message = f"`{name}` should be of type {spec.type}, not {type(value).__name__}"
            yield Problem("wrong-input", message, _way_out(name, spec), at)
        elif spec and spec.values is not None and value is not None and value not in spec.values:
            shown = visible(value) if isinstance(value, str) and len(value) <= _SHOWN else "this"
            hint = did_you_mean(str(value)[:_SHOWN], map(str, spec.values))
            yield Problem("wrong-input", f"`{name}` can never be `{shown}`", hint, at)


def _way_out(name: str, spec: InputSpec) -> str:
    about = f" - {spec.description}" if spec.description else ""
    return f"supply `{name}` ({spec.type}){about}"
