"""The texts of a template, each compiled once, and their order, since partials can be called in two ways."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cuecard.model import Json
from cuecard.template.backends.backend import ProgramCode
from cuecard.template.runtime.runtime import Runtime
from cuecard.template.runtime.scope import Body, Data, Env, Scope
from cuecard.template.syntax.nodes import Block, Literal, Partial, Path, Program, Statement


class TemplateUnit:
    """The code of one text, run by `body`. It is compiled at the first call, by whichever thread is first."""

    def __init__(self, code: ProgramCode, runtime: Runtime) -> None:
        """Take the backend's code and the runtime of this text."""
        self._lock = threading.Lock()
        self._loaded: Body | None = None
        self._code, self._runtime = code, runtime
        self.body: Callable[..., str] = self._first
        self.context_only: bool = code.context_only
        self.spends: bool = code.spends

    def _first(
        self, context: Json, data: Data | None = None, scope: Scope | None = None, params: Any = None, env: Any = None
    ) -> str:
        with self._lock:
            if self._loaded is None:
                self._loaded = self.body = self._code.load(self._runtime)
        return self.body(context, data, scope, params, env)

    def call(self, context: Json, data: Data, env: Env) -> str:
        """Render the text as a partial."""
        return self.body(context, data, (context, None), None, env)


def callees_first(programs: Mapping[str, Program]) -> list[str]:
    """The partials, each after those that it calls by name, except where they call each other in a cycle."""
    ordered: dict[str, None] = {}
    seen: set[str] = set()
    stack = [(name, False) for name in [*programs][::-1]]
    while stack:
        name, is_done = stack.pop()
        if is_done:
            ordered[name] = None
        elif name not in seen:
            seen.add(name)
            called = [callee for callee in _called(programs[name]) if callee in programs]
            stack += [(name, True), *((callee, False) for callee in called)]
    return list(ordered)


def inline_names(programs: Iterable[Program]) -> tuple[set[str], bool]:
    """The literal names of all inline partials, and whether there are no others."""
    blocks = (node for program in programs for node in _statements(program) if isinstance(node, Block))
    names = [node.call.params[0] for node in blocks if node.decorator and node.call.params]
    written = {str(name.value) for name in names if isinstance(name, Literal)}
    return written, all(isinstance(name, Literal) for name in names)


def _called(program: Program) -> Iterator[str]:
    for node in _statements(program):
        if isinstance(node, Partial) and isinstance(node.call.head, Literal | Path):
            yield node.call.head.original


def _statements(program: Program) -> Iterator[Statement]:
    stack = [program]
    while stack:
        for node in stack.pop().body:
            yield node
            if isinstance(node, Block | Partial):
                inverse = node.inverse if isinstance(node, Block) else None
                stack += [branch for branch in (node.program, inverse) if branch]
