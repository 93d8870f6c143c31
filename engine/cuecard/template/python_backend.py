"""The backend of our own: a checked program becomes Python, and Python compiles it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.template.backend import Code
from cuecard.template.codegen import generate
from cuecard.template.nodes import Program
from cuecard.template.rules import Rules
from cuecard.template.runtime import Runtime, found_in, log
from cuecard.template.scope import NULL_CONTEXT, Body, Env, Fn, Options, outer, up
from cuecard.template.source import Source
from cuecard.template.values import is_nothing, lookup


def python(program: Program, source: Source, rules: Rules) -> Code:
    """Generate the code of a program; it is compiled when it is loaded.

    Raises:
        TemplateSyntaxError: for an unknown helper or partial, where that is certain, and for wrong arguments.
    """
    generated = generate(program, source, rules)

    def load(runtime: Runtime) -> Body:
        body: Body = execute(source.name, generated.source, generated.constants, runtime)[generated.entry]
        return body

    return Code(generated.places, load)


def execute(name: str, source: str, constants: Mapping[str, Any], runtime: Runtime) -> dict[str, Any]:
    """The functions of generated code, by name. Nothing is reachable from them but the names below."""
    namespace: dict[str, Any] = {
        "__builtins__": {"dict": dict, "type": type},
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
        "call": runtime.call,
        "each": runtime.each,
        "fail": runtime.fail,
        "falsy": runtime.falsy,
        "log": log,
        "lookup": runtime.lookup,
        "nothing": is_nothing,
        "outer": outer,
        "partial": runtime.partial,
        "section": runtime.section,
        "text": runtime.text,
        "uncalled": runtime.uncalled,
        "up": up,
        "walk": runtime.walk,
        "within": runtime.within,
        **constants,
    }
    code = compile(source, f"<template {name!r}>", "exec", dont_inherit=True)
    exec(code, namespace)  # noqa: S102 - our own code: text of a template is in it only as literals
    return namespace
