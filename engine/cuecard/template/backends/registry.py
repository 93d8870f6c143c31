"""The backends, by their names in agent files."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.template.backends.backend import Backend, Code
from cuecard.template.backends.python_backend import python
from cuecard.template.backends.rules import Rules
from cuecard.template.syntax.nodes import Program
from cuecard.template.syntax.source import Source


def _pybars3(program: Program, source: Source, rules: Rules) -> Code:
    from cuecard.template.backends.pybars_backend import pybars3  # noqa: PLC0415 - hardly any agent asks for it

    return pybars3(program, source, rules)


BACKENDS: Mapping[str, Backend] = {"cuecard": python, "pybars3": _pybars3}
"""Backends for `compile_template` by name."""
