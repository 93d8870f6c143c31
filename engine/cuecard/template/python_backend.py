"""The backend of our own: a checked program becomes Python, and Python compiles it."""

from __future__ import annotations

from typing import Any

from cuecard.template.backend import Code
from cuecard.template.codegen import Generated, generate
from cuecard.template.nodes import Program
from cuecard.template.rules import Rules
from cuecard.template.runtime import Runtime, extended, found_in, indented, log
from cuecard.template.scope import NULL_CONTEXT, Body, Env, Fn, Options, frame, outer, push, up
from cuecard.template.source import Source
from cuecard.template.values import is_nothing, lookup


def python(program: Program, source: Source, rules: Rules) -> Code:
    """Generate the code of a program; it is compiled when it is loaded.

    Raises:
        TemplateSyntaxError: for an unknown helper or partial, where that is certain, and for wrong arguments.
    """
    generated = generate(program, source, rules)
    return Code(generated.places, lambda runtime: _load(source.name, generated, runtime), generated.context_only)


def _load(name: str, generated: Generated, runtime: Runtime) -> Body:
    """The main function. Nothing is reachable from it but these names."""
    namespace: dict[str, Any] = {
        "__builtins__": {"dict": dict, "enumerate": enumerate, "type": type, "zip": zip},
        "A": runtime.attribute,
        "D": found_in,
        "E": runtime.html,
        "Env": Env,
        "Fn": Fn,
        "L": lookup,
        "M": runtime.assume,
        "N": NULL_CONTEXT,
        "Options": Options,
        "P": runtime.param,
        "S": runtime.strict,
        "T": runtime.bare,
        "are_clean": runtime.are_clean,
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
        "uncalled": runtime.uncalled,
        "up": up,
        "within": runtime.within,
        **generated.constants,
        **{variable: runtime.include(*called) for variable, called in generated.included.items()},
    }
    code = compile(generated.source, f"<template {name!r}>", "exec", dont_inherit=True)
    exec(code, namespace)  # noqa: S102 - our own code: text of a template is in it only as literals
    body: Body = namespace[generated.entry]
    return body
