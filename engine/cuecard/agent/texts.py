"""Where the texts of an agent are written: a section's text in YAML, in a file or in a template, and a tool's entry."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from cuecard.agent.specification import read_specification
from cuecard.agent.world import Memo
from cuecard.config.documents.document import Path
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import with_value
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.markup.tags import tags


@dataclass(frozen=True, slots=True)
class SectionText:
    """The text of a section, and where it is: a whole file, a value of a YAML file, or a part of a template.

    Attributes:
        section: the id of the section.
        body: its text.
        title: its title; empty if it has none.
        path: the file that has the text.
        key: the place in YAML; empty for a whole file or a part.
        part: the offsets in a template.
        titled: the file and the place of the section, for its title.
    """

    section: str
    body: str
    title: str = ""
    path: str = ""
    key: Path = ()
    part: tuple[int, int] | None = None
    titled: tuple[str, Path] | None = None


def section_of(sources: AgentSources, section: str) -> SectionText:
    """The text of a section.

    Raises:
        InputError: when there is no such section, or it has no text of its own.
    """
    spec = read_specification(sources, Memo()).spec
    known = [each.id for each in spec.sections] if spec else []
    if section not in known:
        hint = did_you_mean(section, known)
        raise InputError(Problem("unknown-section", f"there is no section `{section}`", hint, "section"))
    files = (sources.agent, *reversed(sources.layers))
    titled = next(((file.path, at) for file, at, held in _written(files, section) if "title" in held), None)
    titled = titled or next(((file.path, at) for file, at, _ in _written(files, section)), None)
    title = next((each.title for each in spec.sections if each.id == section), "") if spec else ""
    for file, at, held in _written(files, section):
        if isinstance(held.get("text"), str):
            return SectionText(section, held["text"], title, file.path, (*at, "text"), None, titled)
        if isinstance(held.get("file"), str):
            path = posixpath.normpath(posixpath.join(sources.folder(file), held["file"]))
            for source in sources.sections:
                if posixpath.normpath(source.path) == path:
                    return SectionText(section, source.text, title, source.path, titled=titled)
        if "choose" in held:
            break
    if sources.template and (part := _part(sources.template, section)):
        start, end = part
        return SectionText(section, sources.template.text[start:end], "", sources.template.path, (), part)
    hint = "edit its file itself"
    raise InputError(Problem("wrong-edit", f"`{section}` has no single text that can be edited", hint, "section"))


def entry_of(sources: AgentSources, tool: str) -> tuple[str, Json]:
    """The file that has the entry of a tool, and the entry.

    Raises:
        InputError: when no file has one.
    """
    known: dict[str, tuple[str, Json]] = {}
    for source in sources.instructions:
        written = read_yaml(source.text, source.name).value.get("tools")
        known |= {name: (source.path, held) for name, held in written.items()} if isinstance(written, dict) else {}
    if tool not in known:
        hint = did_you_mean(tool, known)
        raise InputError(Problem("unknown-tool", f"no file has an entry for the tool `{tool}`", hint, "tool"))
    return known[tool]


def in_place(text: str, found: SectionText, body: str) -> str:
    """The text of a file with another text of the section in it."""
    if found.key:
        return with_value(text, found.key, body)
    start, end = found.part or (0, len(text))
    return text[:start] + body + text[end:]


def _written(files: tuple[SourceText, ...], section: str) -> Iterator[tuple[SourceText, Path, Any]]:
    """What each agent file says of a section, from the top down."""
    for file in files:
        listed = read_yaml(file.text, file.name).value.get("sections")
        for index, held in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(held, dict) and held.get("id") == section:
                yield file, ("sections", index), held


def _part(template: SourceText, section: str) -> tuple[int, int] | None:
    """The offsets of what stands between the tags of an element below the root."""
    depth, start = 0, 0
    for tag in tags(template.text):
        if tag.kind == "open":
            depth += 1
            start = tag.end if depth == 2 and tag.name == section else start
        elif tag.kind == "close":
            if depth == 2 and tag.name == section:
                return start, tag.start
            depth -= 1
    return None
