"""What is said of tools: texts that models should not read as they are, too little to find one by, too much to send."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from cuecard.catalogue.catalogue import definition_text
from cuecard.config.agent_file import AgentFile
from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.documents.document import problem_at
from cuecard.config.documents.sources import SourceText
from cuecard.config.tools_spec import CUES
from cuecard.errors import Problem, Span, SpecError
from cuecard.model import CountTokens, ToolCard

TODO = "TODO"
"""The beginning of a text that is still to be written."""


def check_texts(cards: Iterable[ToolCard], files: Sequence[SourceText]) -> Iterator[Problem]:
    """Warnings for texts of tools that models should not read as they are: unfinished, with placeholders or loose tags,
    or very long.
    """
    known = {name: file for file in files for name in (file.name, file.path)}
    for card in cards:
        told = card.instructions
        texts: dict[str, str] = {"description": card.description}
        texts |= {cue: getattr(told, cue) for cue in CUES if told}
        for found in _of_texts(card.name, texts):
            if entry := _entry(card, known):
                yield problem_at(*entry, found.code, found.message, found.hint, severity=found.severity)


_PLACEHOLDER = re.compile(r"\{{2,3}[^{}]*\}{2,3}")
_CURLY = re.compile(r"\s*[\u201c\u201e\u201f\u2018\u201a][^\u201c-\u201f]*[\u201c\u201d\u2018\u2019]\s*")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)(?:\s[^<>]*?)?(/?)>")
_CODE = re.compile(r"`[^`]*`")
_LONG_TEXT = 4000
"""The length in characters from which a text of a tool is unusually long: some thousand tokens with each discovery."""


def _of_texts(tool: str, texts: Mapping[str, str]) -> Iterator[Problem]:
    """The problems in a tool's texts, without their place."""
    if waiting := [key for key, text in texts.items() if text.lstrip().startswith(TODO)]:
        hint = "models read these texts: write them, or leave out those that would say nothing"
        message = f"`{tool}` has unfinished texts: {', '.join(waiting)}"
        yield Problem("unfinished-tool", message, hint, severity="warning")
    for key, text in texts.items():
        if found := _PLACEHOLDER.search(text):
            message = f"`{key}` of {tool} contains `{found[0]}`, which nothing fills: the model reads the braces"
            yield Problem(
                "tool-text",
                message,
                "texts of tools have no placeholders: put what differs by call into a section",
                severity="warning",
            )
        if loose := _loose_tag(_CODE.sub("", text)):
            message = f"`{key}` of {tool} has a loose `{loose}`, which other parts of the prompt may seem to belong to"
            yield Problem(
                "tool-text",
                message,
                "close it, or write it without angle brackets or between backticks",
                severity="warning",
            )
        if _CURLY.fullmatch(text):
            message = f"`{key}` of {tool} stands in curly quotes, which YAML takes for letters of the text"
            hint = "write straight quotes, or none"
            yield Problem("tool-text", message, hint, severity="warning")
        if len(text) > _LONG_TEXT:
            message = f"`{key}` of {tool} has {len(text):,} characters, which each discovery of it brings"
            yield Problem(
                "tool-text",
                message,
                "say what the model has to know, and leave the rest to a skill or a page",
                severity="warning",
            )


def _loose_tag(text: str) -> str:
    """The first tag that is opened and never closed, or closed and never opened; empty if there is none."""
    opened: list[tuple[str, str]] = []
    for tag in _TAG.finditer(text):
        if tag[1] and (not opened or opened[-1][0] != tag[2]):
            return tag[0]
        if tag[1]:
            opened.pop()
        elif not tag[3]:
            opened.append((tag[2], tag[0]))
    return opened[0][1] if opened else ""


def check_findable(cards: Iterable[ToolCard], spec: AgentFile, files: Sequence[SourceText]) -> Iterator[Problem]:
    """A note for each tool of which a search reads only the name, unless its host says more: no file tells."""
    if spec.delivery == "frozen":
        return
    core = [spec.tools.search.tool, *spec.tools.core]
    known = {name: file for file in files for name in (file.name, file.path)}
    for card in cards:
        said = card.description.strip() or any(map(str.strip, card.phrases)) or card.input_schema
        if said or any(fnmatchcase(card.name, each) for each in core):
            continue
        if at := _entry(card, known):
            message = f"`{card.name}` is found by its name only, unless the host's tool describes itself"
            hint = "say what it does in `description`, and in `phrases` how users ask for it; or see that the tool does"
            yield problem_at(*at, "found-by-name", message, hint, severity="note")


LARGE_DEFINITION = 2_000
"""Tokens of a definition from which on `cuecard check` warns: four times what a tool of a large API has on average."""


def definitions_in(source: SourceText) -> dict[str, str]:
    """The definitions of tools in a file of `cuecard tools import`, as JSON by name; none if it is not one."""
    try:
        cards = read_catalogue(source.text, source.name)
    except SpecError:  # the next import reports it
        return {}
    return {each.name: definition_text(each.name, each.description, each.input_schema) for each in cards}


def check_definitions(
    cards: Iterable[ToolCard], files: Sequence[SourceText], definitions: Mapping[str, str], count: CountTokens
) -> Iterator[Problem]:
    """A warning for each tool whose definition is large, at its entry.

    Args:
        cards: the tools.
        files: the files of their entries.
        definitions: their definitions as JSON, as far as they are known.
        count: how tokens are counted.
    """
    known = {name: file for file in files for name in (file.name, file.path)}
    for card in cards if definitions else ():
        text = definitions.get(card.name, "")
        tokens = count(text) if len(text.encode()) > LARGE_DEFINITION else 0  # no token is shorter than a byte
        if tokens > LARGE_DEFINITION and (entry := _entry(card, known)):
            message = f"the definition of `{card.name}` takes {tokens:,} tokens of each request that can call it"
            hint = f"`cuecard tools show AGENT {card.name}` names its largest properties: leave out what nobody needs"
            yield problem_at(*entry, "large-definition", message, hint, severity="warning")


def _entry(card: ToolCard, known: Mapping[str, SourceText]) -> tuple[str, str, Span] | None:
    """The file of a tool's entry, its text and the place in it; None if another source has told of the tool."""
    place, _, line = card.source.rpartition(":")
    if place not in known:
        return None
    file, at = known[place], int(line)
    row = file.text.split("\n")[at - 1]
    return file.name, file.text, Span(at, len(row) - len(row.lstrip()) + 1, len(card.name))
