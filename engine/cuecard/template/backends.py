"""What makes a checked template run, by the names that an agent file knows."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.template.backend import Backend, Code
from cuecard.template.nodes import Program
from cuecard.template.python_backend import python
from cuecard.template.rules import Rules
from cuecard.template.source import Source


def _pybars3(program: Program, source: Source, rules: Rules) -> Code:
    from cuecard.template.pybars_backend import pybars3  # noqa: PLC0415 - hardly any agent asks for it

    return pybars3(program, source, rules)


BACKENDS: Mapping[str, Backend] = {"cuecard": python, "pybars3": _pybars3}
"""Backends for `compile_template` by name."""
