"""What can only be checked with all files at hand: inputs against the template, tools against the instructions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cuecard.agent.nouns import BUILT_IN, PROTOCOLS
from cuecard.errors import Problem, Span, did_you_mean
from cuecard.spec.agent_file import AgentFile
from cuecard.spec.sources import SourceText
from cuecard.spec.yaml_text import Document, problem_at
from cuecard.template import Part, find_invisible


def refuse_invisible(source: SourceText) -> list[Problem]:
    """An error for each invisible character of an author's file: models read what people cannot see."""
    return [
        problem_at(
            source.name,
            source.text,
            _span_at(source.text, offset),
            "invisible-character",
            f"an invisible character, U+{ord(character):04X}",
            "delete it: models read what people cannot see",
        )
        for offset, character in find_invisible(source.text)
    ]


def _span_at(text: str, offset: int) -> Span:
    return Span(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def check_inputs(
    document: Document, spec: AgentFile, parts: Sequence[Part], template: SourceText | None
) -> list[Problem]:
    """Undeclared, reserved and unused inputs, and a template without a place for tool instructions."""
    if template is None or not parts:
        return []
    uses = [use for part in parts for use in part.inputs]
    declared = {*spec.inputs, *BUILT_IN}
    problems = [
        problem_at(
            template.name,
            template.text,
            use.span,
            "undeclared-input",
            f"`{use.name}` is not an input",
            f"{did_you_mean(use.name, declared)}\nor declare it under `inputs:` in {document.name}",
        )
        for use in uses
        if use.name not in declared
    ]
    used = {use.name for use in uses}
    problems += [p for name in spec.inputs if (p := _declaration(document, name, used))]
    if spec.tools.instructions and PROTOCOLS not in used:
        message = "the template has no place for tool instructions"
        hint = "add to it: <tool-usage-instructions>{{{" + PROTOCOLS + "}}}</tool-usage-instructions>"
        problems.append(document.problem(("template",), "no-protocols", message, hint))
    return problems


def _declaration(document: Document, name: str, used: Collection[str]) -> Problem | None:
    path = ("inputs", name)
    if name in BUILT_IN:
        message, hint = f"`{name}` is filled by the engine", "remove the declaration"
        return document.problem(path, "reserved-input", message, hint, key=True)
    if name in used:
        return None
    message, hint = f"no template reads `{name}`", "use it or remove it"
    return document.problem(path, "unused-input", message, hint, key=True, severity="warning")


def check_tools(document: Document, spec: AgentFile, known: Collection[str]) -> list[Problem]:
    """Core tools without instructions, and a search tool that the agent could never call."""
    problems = [
        document.problem(
            ("tools", "core", index), "unknown-tool", f"`{name}` has no tool instructions", did_you_mean(name, known)
        )
        for index, name in enumerate(spec.tools.core)
        if name not in known
    ]
    search = spec.tools.search.tool
    if search not in spec.tools.core:
        message = f"the search tool `{search}` is not a core tool, so nothing can be discovered"
        problems.append(document.problem(("tools", "core"), "search-not-core", message, f"add `{search}` to `core`"))
    return problems
