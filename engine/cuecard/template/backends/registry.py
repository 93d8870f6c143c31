"""The backends, by their names in agent files."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.template.backends.backend import Backend
from cuecard.template.backends.pybars_backend import pybars3
from cuecard.template.backends.python_backend import python

BACKENDS: Mapping[str, Backend] = {"cuecard": python, "pybars3": pybars3}
"""Backends for `compile_template` by name."""
