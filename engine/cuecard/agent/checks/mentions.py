"""Texts that mention a tool by a name that no tool has, wherever an agent's texts can name one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from cuecard.catalogue.unknown_names import KnownNames, strange_words
from cuecard.config.documents.document import Document, Path, inline_problem
from cuecard.config.documents.sources import AgentSources
from cuecard.config.layers import names_a_file
from cuecard.errors import DidYouMean, Problem
from cuecard.model import Json
from cuecard.template.markup.tags import blanked
from cuecard.template.syntax.source import TemplateSource

_NOT_SAID = re.compile(
    r"\{\{!--.*?--~?\}\}|\{\{.*?\}\}|<!--.*?-->|^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$|</?[A-Za-z][^<>\n]*>|\{\w+\}",
    re.DOTALL | re.MULTILINE,
)
"""What models do not read as prose: mustaches, comments, tags, placeholders of words, and fenced code."""

_NAMES_TOOLS = (("tools",), ("results",), ("memory", "forget"), ("memory", "types"))
"""Where the agent file names tools, so that a name there is no other thing's."""


def check_mentions(
    document: Document, sources: AgentSources, known: frozenset[str], other_names: Callable[[], Iterable[str]]
) -> Iterator[Problem]:
    """A problem for each word of the agent file, its templates and texts that looks like a tool's name and is none.

    Texts of the tool files are checked as they are read.

    Args:
        document: the agent file.
        sources: all files.
        known: the names of the tools.
        other_names: gives the names of what is no tool, such as elements and parameters; asked if there is any such
            word, since there may be thousands.
    """
    names = KnownNames.of(known)
    found = [*_in_files(sources, names), *_in_document(document, names)]
    others = {*_written(document), *other_names()} if found else frozenset[str]()
    yield from dict.fromkeys(problem for word, problem in found if word not in others)


def _in_files(sources: AgentSources, known: KnownNames) -> Iterator[tuple[str, Problem]]:
    files = (*sources.partials, *sources.sections, *sources.results, *sources.skills)
    for file in (*files, *((sources.template,) if sources.template else ())):
        yield from _in_text(TemplateSource(file.name, file.text), known)


def _in_document(document: Document, known: KnownNames) -> Iterator[tuple[str, Problem]]:
    for path, text in _strings(document.value, ()):
        if any(map(str.isspace, text.strip())) and path in document.values and _is_read(path):
            for word, problem in _in_text(TemplateSource(document.name, text), known):
                yield word, inline_problem(document, path, problem)


def _is_read(path: Path) -> bool:
    """Whether a model may read the text at this place of the agent file."""
    return path[0] not in {"accept", "extends"} and not names_a_file(path)


def _in_text(source: TemplateSource, known: KnownNames) -> Iterator[tuple[str, Problem]]:
    plain = blanked(source.text, (found.span() for found in _NOT_SAID.finditer(source.text)), " ")
    for at, word, alike in strange_words(plain, known):
        message = f"no tool is called `{word}`" if alike else f"no tool of these files is called `{word}`"
        severity = "warning" if alike else "note"  # it may be a tool of the host that needs no entry
        hint = DidYouMean(word, known.names)
        yield word, source.problem(at, at + len(word), "unknown-tool", message, hint, severity=severity)


def _strings(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _strings(inner, (*path, key))


def _written(document: Document) -> Iterator[str]:
    """What the agent file names itself: inputs, sections, profiles, and the values that it compares them with."""
    for path, text in _strings(document.value, ()):
        if not any(path[: len(each)] == each for each in _NAMES_TOOLS):
            yield from (word for word in (*path, text) if isinstance(word, str))
