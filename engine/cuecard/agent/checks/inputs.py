"""Inputs against the template: what it reads is declared, what is declared is read, and every value has its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from cuecard.agent.nouns import BUILT_IN, PROTOCOLS
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.texts import AgentSources, SourceText
from cuecard.config.documents.yaml_text import Document, problem_at
from cuecard.errors import Problem, did_you_mean
from cuecard.template import InputUse


class Use(Protocol):
    """An input that is read, and how to say so where it is written: code, message, hint."""

    @property
    def name(self) -> str:
        """The name of the input."""

    @property
    def problem(self) -> Callable[[str, str, str], Problem]:
        """Makes a problem at that place."""


def check_inputs(
    document: Document, spec: AgentFile, uses: Sequence[InputUse], sources: AgentSources
) -> Iterator[Problem]:
    """Undeclared, reserved and unused inputs, and a template without a place for tool instructions."""
    if sources.template is None:
        return
    texts = {"": sources.template, **{partial.stem: partial for partial in sources.partials}}
    used = {use.name for use in uses}
    yield from _undeclared(uses, {*spec.inputs, *BUILT_IN}, texts, document)
    for name in spec.inputs:
        yield from _declaration(document, name, used)
    if spec.tools.instructions and PROTOCOLS not in used:
        message = "the template has no place for tool instructions"
        hint = "add to it: <tool-usage-instructions>{{{" + PROTOCOLS + "}}}</tool-usage-instructions>"
        yield document.problem(("template",), "no-protocols", message, hint)


def check_section_inputs(
    document: Document, spec: AgentFile, uses: Sequence[Use], *, instructed: bool
) -> Iterator[Problem]:
    """The same for what a list of sections reads, in all of its profiles and variants.

    `instructed` says whether there are tools with instructions, which need a place.
    """
    declared = {*spec.inputs, *BUILT_IN}
    for use in uses:
        if use.name not in declared:
            message, hint = f"`{use.name}` is not an input", did_you_mean(use.name, declared)
            yield use.problem("undeclared-input", message, f"{hint}\nor declare it under `inputs:`".lstrip())
    used = {use.name for use in uses}
    for name in spec.inputs:
        yield from _declaration(document, name, used)
    if instructed and PROTOCOLS not in used:
        message = "no section has a place for tool instructions"
        hint = "add a section with the text '{{{" + PROTOCOLS + "}}}'"
        yield document.problem(("sections",), "no-protocols", message, hint)


def _undeclared(
    uses: Sequence[InputUse], declared: Collection[str], texts: Mapping[str, SourceText], document: Document
) -> Iterator[Problem]:
    for use in dict.fromkeys(uses):
        if use.name not in declared:
            place, message = texts[use.template], f"`{use.name}` is not an input"
            hint = f"{did_you_mean(use.name, declared)}\nor declare it under `inputs:` in {document.name}"
            yield problem_at(place.name, place.text, use.span, "undeclared-input", message, hint)


def _declaration(document: Document, name: str, used: Collection[str]) -> Iterator[Problem]:
    path = ("inputs", name)
    if name in BUILT_IN:
        message, hint = f"`{name}` is filled by the engine", "remove the declaration"
        yield document.problem(path, "reserved-input", message, hint, key=True)
    elif name not in used:
        message, hint = f"no template reads `{name}`", "use it or remove it"
        yield document.problem(path, "unused-input", message, hint, key=True, severity="warning")
