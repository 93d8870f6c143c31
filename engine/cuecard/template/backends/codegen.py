"""A syntax tree to Python functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from cuecard.errors import TemplateSyntaxError, did_you_mean
from cuecard.records import dataclass
from cuecard.template.backends.code import BOOLEANS, SURROUNDINGS, At, Branch, Function, Loop
from cuecard.template.backends.expressions import CallWriter
from cuecard.template.rules import BLOCKS, BUILT_IN, HOOKS, Rules, wants_options
from cuecard.template.syntax.habits import compared
from cuecard.template.syntax.nodes import (
    Block,
    HelperCall,
    Mustache,
    Partial,
    Path,
    Program,
    Statement,
    TextNode,
    as_path,
    walk,
)
from cuecard.template.syntax.source import TemplateSource


def unquoted_names(program: Program) -> dict[str, Path]:
    """The names, and their places."""
    return dict(_unquoted(program))


def _unquoted(program: Program) -> Iterator[tuple[str, Path]]:
    for node in walk(program.body):
        named = node.call.params[0] if isinstance(node, Block) and node.decorator and node.call.params else None
        if isinstance(named, Path) and named.is_simple and not named.data:
            yield named.original, named


_INLINED = 8
"""The maximum depth of branches in one function, because Python limits the depth of indentation."""


class FunctionWriter(CallWriter, ABC):
    """Writes functions; `finished` contains the lines of complete ones."""

    def __init__(self, source: TemplateSource, rules: Rules, program: Program) -> None:
        """Begin with nothing of the program written."""
        super().__init__(source, rules)
        self.unquoted: dict[str, Path] = unquoted_names(program) if rules.strict else {}
        self.finished: list[str] = []
        self.functions: int = 0
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
            if problem not in self.problems:
                self.problems.append(problem)

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


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """Python source, the name of its main function, the places that it names by number, and what it refers to.

    Attributes:
        included: the plain partials that it calls, each with the place of the call, by variable.
        context_only: whether its output depends only on its context.
        spends: whether it may do work that the limits count: it has a loop, calls a partial or a helper.
    """

    source: str
    entry: str
    places: list[tuple[int, int]]
    constants: dict[str, Any]
    included: dict[str, tuple[str, int]]
    context_only: bool
    spends: bool


_SPENDING = ("call", "each", "loop", "partial", "section")
"""The functions called by generated code that count work, directly or indirectly."""


def generate(program: Program, source: TemplateSource, rules: Rules) -> ProgramSource:
    """The code of a program.

    Raises:
        TemplateSyntaxError: for an unknown helper or partial, if that is certain, and for wrong arguments.
    """
    writer = ProgramWriter(source, rules, program)
    entry = writer.main(program)
    if writer.problems:
        raise TemplateSyntaxError(writer.problems)
    context_only = not writer.taken.get(entry, SURROUNDINGS)
    source_code = "\n".join(writer.finished)
    # A text that merely looks like a call does no harm.
    spends = bool(writer.included) or any(f"{name}(" in source_code for name in _SPENDING)
    return ProgramSource(source_code, entry, writer.places, writer.constants, writer.included, context_only, spends)


class ProgramWriter(FunctionWriter):
    """Writes statements and functions."""

    def __init__(self, source: TemplateSource, rules: Rules, program: Program) -> None:
        """Start with an empty program."""
        super().__init__(source, rules, program)
        self.included: dict[str, tuple[str, int]] = {}

    # -- statements

    def body(self, program: Program, at: At) -> None:
        """The statements of a program, in the function that is being written."""
        for node in program.body:
            self.statement(node, at)

    def statement(self, node: Statement, at: At) -> None:
        """One statement."""
        if isinstance(node, TextNode):
            if text := self.source.text[node.first : node.last]:
                at.function.put(repr(text))
        elif isinstance(node, Mustache):
            self.mustache(node, at)
        elif isinstance(node, Partial):
            self.partial(node, at)
        elif isinstance(node, Block) and not node.decorator:
            self.block(node, at)

    def mustache(self, node: Mustache, at: At) -> None:
        """Print a value, escaped according to its tag and place."""
        printer = "E" if node.escaped else "A" if node.start in self.rules.attributes else "T"
        value = self.invoke(node.call, at)
        printed = f"{printer}({value}, {self.place(node)})"
        if node.escaped and isinstance(at.function, Loop):
            printed = at.function.printed(value, printed)
        at.function.put(printed)

    def partial(self, node: Partial, at: At) -> None:
        """Print a partial."""
        call = node.call
        if len(call.params) > 1:
            message = f"a partial takes one context, not {len(call.params)}"
            self.report(node, "wrong-arguments", message, "pass the other values as `name=value`", certain=True)
        if isinstance(call.head, HelperCall):
            name = self.invoke(call.head, at)
        else:
            original = call.head.original
            name = repr(original)
            known = original in self.rules.partials or original == "@partial-block" or node.program is not None
            if original in self.unquoted:
                self.unquoted_name(original)
            elif self.rules.strict and not known:
                hint = did_you_mean(original, self.rules.partials) or "add it to the partials folder"
                self.report(node, "unknown-partial", f"there is no partial named `{original}`", hint)
        context = self.value(call.params[0], at) if call.params else at.context()
        pairs = self.pairs(call, at) if call.hash else "None"
        if isinstance(call.head, HelperCall) or call.head.original not in self.rules.plain or node.program is not None:
            block = self.branch(node.program, at)
            at.function.use("d", "s", "k")
            at.function.put(
                f"partial({name}, {context}, {pairs}, (d, s, k), {block}, {node.indent!r}, {self.place(node)})"
            )
        else:
            at.function.put(self.include(node, call.head.original, context, pairs))

    def include(self, node: Partial, name: str, context: str, pairs: str) -> str:
        """The text of a plain partial, which needs only its context."""
        variable = f"m{len(self.included)}"
        self.included[variable] = name, self.place(node)
        context = context if pairs == "None" else f"extended({context}, {pairs})"
        return f"indented({variable}({context}), {node.indent!r})" if node.indent else f"{variable}({context})"

    # -- blocks

    def block(self, node: Block, at: At) -> None:
        """Print a block: a built-in one, a helper's or a value's."""
        name = self.helper_name(as_path(node.call.head), at)
        supplied = name in self.rules.helpers and name not in HOOKS
        if name in BLOCKS and not supplied:
            self.built_in(name, node, at)
        elif supplied or name in BUILT_IN or node.call.has_arguments:
            branches = self.branch(node.program, at), self.branch(node.inverse, at)
            at.function.put(f"block({self.invoke(node.call, at, branches)}, {self.place(node)})")
        else:
            self.section(node, at)

    def built_in(self, name: str, node: Block, at: At) -> None:
        """Print `if`, `unless`, `each` or `with`."""
        if len(node.call.params) != 1:
            message = f"`{name}` takes one value, not {len(node.call.params)}"
            is_compared = name in {"if", "unless"} and any(key != "includeZero" for key, _ in node.call.hash)
            hint = self.habit(node.call, name) or (compared("=") if is_compared else f"write `{{{{#{name} value}}}}`")
            at.function.put(self.report(node.call, "wrong-arguments", message, hint))
        elif name in {"if", "unless"}:
            self.condition(name, node, at)
        else:
            self.print_or_else(self.loop(name, node, at), node.inverse, at, at.inside())

    def loop(self, name: str, node: Block, at: At) -> str:
        """The output of `each` or `with`: a text, or None."""
        value, place, program = self.value(node.call.params[0], at), self.place(node.call), node.program or Program([])
        if name == "each" and not inline_partials(program):
            function = self.function(program, at.params, Loop(names_items=bool(program.block_params)))
            return f"loop({value}, {function}, {place}{self.given(function, at)})"
        function = self.function(program, at.params)
        return f"{'each' if name == 'each' else 'within'}({value}, {self.bind(function, program, at)}, {place})"

    def given(self, function: str, at: At) -> str:
        """The further arguments of a function: exactly those it takes."""
        taken = self.taken[function]
        if "r" in taken and not isinstance(at.function, Loop):
            taken = taken - {"r"} | {"d"}
        at.function.use(*taken)
        data = "d" if "d" in taken else "e" if "r" in taken else "None"
        rest = (name if name in taken else "None" for name in SURROUNDINGS[1:])
        return f", {', '.join((data, *rest))}" if taken else ""

    def condition(self, name: str, node: Block, at: At) -> None:
        """Print one branch or the other."""
        program = node.program or node.inverse
        if program and program.block_params:
            message = f"`{name}` has no values to name with `as |{' '.join(program.block_params)}|`"
            self.report(node.call, "wrong-arguments", message, "remove it")
        value, place = self.value(node.call.params[0], at), self.place(node.call)
        zero = next((self.value(v, at) for k, v in node.call.hash if k == "includeZero"), "")
        extra = f", include_zero=not falsy({zero}, {place})" if zero else ""
        then, other = self.inline(node.program, at.inside()), self.inline(node.inverse, at.inside())
        negated, plain = ("", "not ") if name == "unless" else ("not ", "")
        held = at.function.temporary()
        # Most conditions are true or false, and need no call.
        test = f"({plain}{held} if type({held} := {value}) is bool else {negated}falsy({held}, {place}{extra}))"
        if value in BOOLEANS:
            test = value if negated else f"not {value}"
        at.function.choose(test, then, other)

    def section(self, node: Block, at: At) -> None:
        """Print `{{#x}}` of a value."""
        hooked = any(hook in self.rules.helpers for hook in HOOKS)
        branches = self.branch(node.program, at), self.branch(node.inverse if hooked else None, at)
        found = self.section_of(node, at, branches)
        if "blockHelperMissing" in self.rules.helpers:
            at.function.put(found)
        else:
            self.print_or_else(found, node.inverse, at, at)

    def section_of(self, node: Block, at: At, branches: tuple[str, str]) -> str:
        """The output of `{{#x}}` for a value: Handlebars.js blockHelperMissing, or the one supplied; a text or None."""
        value, place = self.invoke(node.call, at, branches), self.place(node)
        if "blockHelperMissing" not in self.rules.helpers:
            return f"section({value}, {branches[0]}, c, {place})"
        helper, options = self.helper("blockHelperMissing"), self.options(node.call, at, branches)
        wants = wants_options(self.rules.helpers["blockHelperMissing"])
        return f"text(call({helper}, ({value},), {options}, {place}, wants_options={wants}), {place})"

    def print_or_else(self, found: str, inverse: Program | None, at: At, inside: At) -> None:
        """Print the output of a block, or the other branch if it is None."""
        if inverse is None:
            at.function.put(f"{found} or ''")
            return
        held = at.function.temporary()
        at.function.choose(f"({held} := {found}) is not None", Branch([], [held]), self.inline(inverse, inside))
