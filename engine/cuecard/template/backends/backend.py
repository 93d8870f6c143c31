"""The interface between a parsed template and the code that runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from cuecard.records import dataclass
from cuecard.template.rules import Rules
from cuecard.template.runtime.runtime import Runtime
from cuecard.template.runtime.scope import Body
from cuecard.template.syntax.nodes import Program
from cuecard.template.syntax.source import TemplateSource


@dataclass(frozen=True, slots=True)
class ProgramCode:
    """A checked program: the offsets by which its runtime names places, and how to compile it at the first render.

    `context_only`: its output depends only on its context. `spends`: it may do work that the limits count.
    """

    places: list[tuple[int, int]]
    load: Callable[[Runtime], Body]
    context_only: bool = False
    spends: bool = True


class Backend(Protocol):
    """Checks the parsed program of a template, a part or a partial, and prepares it for compilation.

    Internal: hosts choose one by its name.
    """

    def __call__(self, program: Program, source: TemplateSource, rules: Rules, /) -> ProgramCode:
        """The program, ready to be compiled."""
