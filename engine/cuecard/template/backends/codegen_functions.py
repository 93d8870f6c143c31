"""Programs as Python functions, and their arguments: branches, loops, inline partials."""

from __future__ import annotations

from abc import ABC, abstractmethod

from cuecard.template.backends.code import SURROUNDINGS, At, Branch, Function
from cuecard.template.backends.codegen_calls import CallWriter
from cuecard.template.backends.inline_names import unquoted_names
from cuecard.template.backends.rules import Rules
from cuecard.template.syntax.nodes import Block, Path, Program
from cuecard.template.syntax.source import Source

_INLINED = 8
"""The maximum depth of branches in one function, because Python limits the depth of indentation."""


class FunctionWriter(CallWriter, ABC):
    """Writes functions; `finished` contains the lines of complete ones."""

    def __init__(self, source: Source, rules: Rules, program: Program) -> None:
        """Begin with nothing of the program written."""
        super().__init__(source, rules)
        self.unquoted = unquoted_names(program) if rules.strict else {}
        self.finished: list[str] = []
        self.functions = 0
        self.taken: dict[str, set[str]] = {}  # by function, what it must be given beside its context

    @abstractmethod
    def body(self, program: Program, at: At) -> None:
        """The statements of a program, in the function that is being written."""

    def main(self, program: Program) -> str:
        """Write the whole program; the name of its function. Its inline partials see no context (Handlebars.js)."""
        name = self.function(program, ())
        if not inline_partials(program):
            return name
        for block in inline_partials(program):  # out here there are no values to name them by
            if block.call.params and isinstance(named := block.call.params[0], Path):
                self.unquoted_name(named.original)
        environment = self.inlines(program, (), name)
        self.finished += ["def main(c, d, s, b, k):", "    c0 = c; s0 = s; c = s = None"]
        self.finished += [f"    return {name}(c0, d, s0, b, {environment})"]
        return "main"

    def unquoted_name(self, name: str) -> None:
        """Report an inline partial whose name is a value."""
        if named := self.unquoted.get(name):
            message = f"`{name}` is a value, and the name of an inline partial is a text"
            problem = self.source.problem(
                named.start, named.end, "wrong-arguments", message, f'write `{{{{#*inline "{name}"}}}}`'
            )
            self.problems += [problem] if problem not in self.problems else []

    def function(self, program: Program, params: tuple[tuple[str, ...], ...], function: Function | None = None) -> str:
        """Write a program as a function; its name."""
        self.functions += 1
        name = f"p{self.functions}"
        at = At(function or Function(), (program.block_params, *params) if program.block_params else params)
        self.body(program, at)
        self.finished += at.function.written(name)
        self.taken[name] = at.function.takes()
        return name

    def branch(self, program: Program | None, at: At) -> str:
        """A branch as a value that helpers and loops can call."""
        if program is None:
            return "None"
        return self.bind(self.function(program, at.params), program, at)

    def bind(self, function: str, program: Program, at: At) -> str:
        """A function bound to everything in scope where it is written."""
        at.function.use(*SURROUNDINGS)
        environment = self.inlines(program, at.params, function)
        return f"Fn({function}, d, s, b, {environment}, {bool(program.block_params)})"

    def inlines(self, program: Program, params: tuple[tuple[str, ...], ...], name: str, around: str = "b") -> str:
        """The environment of a program with its inline partials. As in Handlebars.js, they see the surroundings of the
        program, but neither its context nor its block parameters.
        """
        blocks = inline_partials(program)
        if not blocks:
            return "k"
        at = At(Function(), params)
        hidden = program.block_params
        within, b = ((hidden, *params), "(None, b)") if hidden else (params, "b")
        for block in blocks:
            if len(block.call.params) != 1 and self.rules.strict:
                hint = 'write `{{#*inline "name"}}`'
                self.report(block.call, "wrong-arguments", "an inline partial has one name", hint)
            content = block.program or Program([])
            body = self.function(content, within)
            own = f", False, lambda k: {env}" if (env := self.inlines(content, within, body, b)) != "k" else ""
            key = self.value(block.call.params[0], at) if block.call.params else "'undefined'"
            fn = f"Fn({body}, d, s, {b}, k{own})"
            at.function.add(f"k.partials[text({key}, {self.place(block)})] = {fn}.as_partial")
        lines = at.function.written(f"x{name}", ["    k = Env(dict(k.partials), k.depth)"])
        self.finished += [*lines[:-1], "    return k"]
        return f"x{name}(c, d, s, {around}, k)"

    def inline(self, program: Program | None, at: At) -> Branch:
        """A branch that keeps its context, written into the same function."""
        content = program or Program([])

        def write() -> None:
            if content.block_params or inline_partials(content) or at.function.indent > _INLINED:
                at.function.put(f"{self.branch(content, at)}({at.context()})")
            else:
                self.body(content, at)

        return at.function.apart(write)


def inline_partials(program: Program) -> list[Block]:
    """The inline partials of a program, those within its blocks aside."""
    return [node for node in program.body if isinstance(node, Block) and node.decorator]
