"""What is said of tools: texts that models should not read as they are, too little to find one by, too much to send."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from cuecard.agent.instructions import InstructionFile, Instructions, entry_path
from cuecard.agent.world import Memo
from cuecard.catalogue.catalogue import definition_text
from cuecard.config.agent_file import AgentFile
from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.documents.document import Document, Path, inline_problem, lines_of, problem_at
from cuecard.config.documents.sources import SourceText
from cuecard.config.tools_spec import CUES
from cuecard.errors import Problem, Span, SpecError
from cuecard.model import CountTokens, ToolCard
from cuecard.template.syntax.habits import foreign_placeholder

TODO = "TODO"
"""The beginning of a text that is still to be written."""


def check_texts(told: Instructions, inputs: Collection[str], memo: Memo) -> Iterator[Problem]:
    """Warnings for texts of tools that models should not read as they are: unfinished, with placeholders or loose tags,
    or very long.
    """
    for file in told.files:
        yield from memo(_in_file, file, told.hidden.get(file, frozenset()), frozenset(inputs))


_PLACEHOLDER = re.compile(r"\{{2,3}[^{}]*\}{2,3}")
_CURLY = re.compile(r"\s*[\u201c\u201e\u201f\u2018\u201a][^\u201c-\u201f]*[\u201c\u201d\u2018\u2019]\s*")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)(?:\s[^<>]*?)?(/?)>")
_CODE = re.compile(r"`[^`]*`")
_LONG_TEXT = 4000
"""The length in characters from which a text of a tool is unusually long: some thousand tokens with each discovery."""


def _in_file(file: InstructionFile, hidden: Collection[Path], inputs: Collection[str]) -> tuple[Problem, ...]:
    """The problems in the texts of a file, each at its place."""
    problems: list[Problem] = []
    for card in file.cards:
        told, path = card.instructions, entry_path(file.document, card.name)
        texts = {"description": card.description} | {cue: getattr(told, cue) for cue in CUES if told}
        texts = {key: text for key, text in texts.items() if (card.name, key) not in hidden}
        if waiting := [key for key, text in texts.items() if text.lstrip().startswith(TODO)]:
            hint = "models read these texts: write them, or leave out those that would say nothing"
            message = f"`{card.name}` has unfinished texts: {', '.join(waiting)}"
            told_at = file.document.problem(path, "unfinished-tool", message, hint, key=True, severity="warning")
            problems.append(told_at)
        for key, text in texts.items():
            problems += (
                _placed(file.document, (*path, key), f"`{key}` of {card.name} {found.message}", found)
                for found in _in_text(text, inputs)
            )
    return tuple(problems)


class _Finding(NamedTuple):
    """A problem in a text: what it says of the text, the words that it is about, and those that stand before them."""

    message: str
    hint: str
    words: str = ""
    before: str = ""


def _in_text(text: str, inputs: Collection[str]) -> Iterator[_Finding]:
    """The problems in a text of a tool."""
    if found := _PLACEHOLDER.search(text) or foreign_placeholder(text, inputs):
        message = f"contains `{found[0]}`, which nothing fills: the model reads the braces"
        hint = "texts of tools have no placeholders: put what differs by user message into a section"
        yield _Finding(message, hint, found[0], text[: found.start()])
    if loose := _loose_tag(text):
        message = f"has a loose `{loose[0]}`, which other parts of the prompt may seem to belong to"
        hint = "close it, or write it without angle brackets or between backticks"
        yield _Finding(message, hint, loose[0], text[: loose.start()])
    if _CURLY.fullmatch(text):
        message = "stands in curly quotes, which YAML takes for letters of the text"
        yield _Finding(message, "write straight quotes, or none")
    if len(text) > _LONG_TEXT:
        message = f"has {len(text):,} characters, which each discovery of it brings"
        yield _Finding(message, "say what the model has to know, and leave the rest to a skill or a page")


def _placed(document: Document, path: Path, message: str, found: _Finding) -> Problem:
    """The problem at its words, where they can be found in what is written there, else at the field."""
    written, before = document.at(path), found.before.count(found.words)
    items = [((*path, at), item) for at, item in enumerate(written)] if isinstance(written, list) else [(path, written)]
    for place, item in items if found.words else ():
        if isinstance(item, str) and (times := item.count(found.words)) > before:
            start = len(found.words.join(item.split(found.words)[: before + 1]))
            line, column = item.count("\n", 0, start) + 1, start - (item.rfind("\n", 0, start) + 1) + 1
            problem = Problem(
                "tool-text", message, found.hint, "", Span(line, column, len(found.words)), severity="warning"
            )
            return inline_problem(document, place, problem)
        before -= times if isinstance(item, str) else 0
    return document.problem(path, "tool-text", message, found.hint, severity="warning")


def _loose_tag(text: str) -> re.Match[str] | None:
    """The first tag, outside of backticks, that is opened and never closed, or closed and never opened."""
    opened: list[re.Match[str]] = []
    for tag in _TAG.finditer(_CODE.sub(lambda code: " " * len(code[0]), text)):
        if tag[1] and (not opened or opened[-1][2] != tag[2]):
            return tag
        if tag[1]:
            opened.pop()
        elif not tag[3]:
            opened.append(tag)
    return opened[0] if opened else None


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
            message = f"`{card.name}` is found by its name only, unless your program's tool describes itself"
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
    key = re.search(rf"(?<![\w.:/-]){re.escape(card.name)}[\"']?\s*:", lines_of(file.text)[at - 1])
    return file.name, file.text, Span(at, key.start() + 1 if key else 1, len(card.name))
