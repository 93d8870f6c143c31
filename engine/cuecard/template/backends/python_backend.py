"""Our own backend: a checked program becomes Python code, which Python compiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.records import dataclass
from cuecard.template.backends.backend import ProgramCode
from cuecard.template.backends.codegen import ProgramSource, generate
from cuecard.template.rules import Rules
from cuecard.template.runtime.partials import extended, indented
from cuecard.template.runtime.runtime import Runtime, found_in, log
from cuecard.template.runtime.scope import NULL_CONTEXT, Body, Env, Fn, HelperOptions, frame, outer, push, up
from cuecard.template.runtime.values import is_nothing, lookup
from cuecard.template.syntax.nodes import Program
from cuecard.template.syntax.source import TemplateSource


def python(program: Program, source: TemplateSource, rules: Rules) -> ProgramCode:
    """Generate the code of a program; it is compiled when it is first run.

    Raises:
        TemplateSyntaxError: for an unknown helper or partial, where that is certain, and for wrong arguments.
    """
    generated = generate(program, source, rules)
    return ProgramCode(generated.places, Loader(source.name, generated), generated.context_only, generated.spends)


@dataclass(frozen=True, slots=True)
class Loader:
    """Compiles generated code for the runtime of its text."""

    name: str
    generated: ProgramSource

    def __call__(self, runtime: Runtime) -> Body:
        """The function that renders the text."""
        generated = self.generated
        included = {variable: runtime.include(*called) for variable, called in generated.included.items()}
        constants = {**generated.constants, **included}
        body: Body = execute(self.name, generated.source, constants, runtime)[generated.entry]
        return body


def execute(name: str, source: str, constants: Mapping[str, Any], runtime: Runtime) -> dict[str, Any]:
    """The functions of generated code, by name. They can reach only the names below."""
    namespace: dict[str, Any] = {
        "__builtins__": {"bool": bool, "dict": dict, "enumerate": enumerate, "type": type, "zip": zip},
        "A": runtime.attribute,
        "D": found_in,
        "E": runtime.html,
        "Env": Env,
        "Fn": Fn,
        "I": runtime.through,
        "J": runtime.joined,
        "L": lookup,
        "M": runtime.assume,
        "N": NULL_CONTEXT,
        "Options": HelperOptions,
        "P": runtime.param,
        "S": runtime.strict,
        "T": runtime.bare,
        "are_clean": runtime.are_clean,
        "block": runtime.block,
        "call": runtime.call,
        "each": runtime.each,
        "fail": runtime.fail,
        "extended": extended,
        "falsy": runtime.falsy,
        "log": log,
        "lookup": runtime.lookup,
        "loop": runtime.loop,
        "frame": frame,
        "indented": indented,
        "nothing": is_nothing,
        "outer": outer,
        "partial": runtime.partial,
        "push": push,
        "section": runtime.section,
        "text": runtime.text,
        "standard": runtime.standard,
        "tool": runtime.tool,
        "uncalled": runtime.uncalled,
        "up": up,
        "within": runtime.within,
        "xml": runtime.xml,
        **constants,
    }
    code = compile(source, f"<template {name!r}>", "exec", dont_inherit=True)
    exec(code, namespace)  # noqa: S102 - our own code: text of a template is in it only as literals
    return namespace
