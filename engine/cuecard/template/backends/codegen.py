"""A syntax tree to Python source. Template text reaches the source only through `repr`, names only as numbers."""

from __future__ import annotations

from cuecard.errors import TemplateSyntaxError, did_you_mean
from cuecard.template.backends.code import SURROUNDINGS, At, Branch
from cuecard.template.backends.codegen_functions import FunctionWriter, inline_partials
from cuecard.template.backends.generated import Generated
from cuecard.template.backends.loop import BOOLEANS, Loop
from cuecard.template.backends.rules import BLOCKS, BUILT_IN, HOOKS, Rules, wants_options
from cuecard.template.syntax.habits import compared
from cuecard.template.syntax.nodes import Block, Call, Content, Mustache, Partial, Program, Statement, as_path
from cuecard.template.syntax.source import Source

_SPENDING = ("call", "each", "loop", "partial", "section")
"""The functions called by generated code that count work, directly or indirectly."""


def generate(program: Program, source: Source, rules: Rules) -> Generated:
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
    return Generated(source_code, entry, writer.places, writer.constants, writer.included, context_only, spends)


class ProgramWriter(FunctionWriter):
    """Writes statements and functions."""

    def __init__(self, source: Source, rules: Rules, program: Program) -> None:
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
        if isinstance(node, Content):
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
        if isinstance(call.head, Call):
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
        if isinstance(call.head, Call) or call.head.original not in self.rules.plain or node.program is not None:
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
