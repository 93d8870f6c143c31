"""Where the texts of an agent are written: a section's text in YAML, in a file or in a template, and a tool's entry."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import Any

from cuecard.agent.specification import read_specification
from cuecard.agent.world import Memo
from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import with_value
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.markup.tags import tags


@dataclass(frozen=True, slots=True)
class LocatedText:
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


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """What a YAML file says of a section: the place, and what is there; `of` is the key and the name of the profile or
    variant that says it.
    """

    file: SourceText
    key: Path
    held: dict[str, Any]
    of: tuple[str, str] | None = None


def places_of(
    sources: AgentSources, section: str, read: Callable[[str, str], Document] = read_yaml
) -> Iterator[SectionPlace]:
    """Everything that agent files say of a section, from the top down: the agent itself, its profiles, its variants."""
    files = [(each, read(each.text, each.name).value) for each in (sources.agent, *reversed(sources.layers))]
    for file, value in files:
        yield from _listed(file, value.get("sections"), (), section)
    for kind in ("profiles", "variants"):
        for file, value in files:
            named = value.get(kind)
            for name, held in named.items() if isinstance(named, dict) else ():
                listed = held.get("sections") if isinstance(held, dict) else None
                yield from _listed(file, listed, (kind, name), section)


def part_of(sources: AgentSources, section: str) -> tuple[int, int] | None:
    """The offsets of a section's text in the template; None if it is no element of it."""
    return _part(sources.template, section) if sources.template else None


def section_of(sources: AgentSources, section: str) -> LocatedText:
    """The text of a section.

    Raises:
        InputError: when there is no such section, or it has no text of its own.
    """
    spec = read_specification(sources, Memo()).spec
    known = [each.id for each in spec.sections] if spec else []
    if section not in known and not (sources.template and _part(sources.template, section)):
        hint = did_you_mean(section, known)
        raise InputError(Problem("unknown-section", f"there is no section `{section}`", hint, "section"))
    said = [each for each in places_of(sources, section) if each.of is None]
    titled = next(((each.file.path, each.key) for each in said if "title" in each.held), None)
    titled = titled or next(((each.file.path, each.key) for each in said), None)
    title = next((each.title for each in spec.sections if each.id == section), "") if spec else ""
    for each in said:
        if isinstance(text := each.held.get("text"), str):
            return LocatedText(section, text, title, each.file.path, (*each.key, "text"), None, titled)
        if source := file_of(sources, each.file, each.held):
            return LocatedText(section, source.text, title, source.path, titled=titled)
        if "choose" in each.held:
            break
    if sources.template and (part := part_of(sources, section)):
        start, end = part
        return LocatedText(section, sources.template.text[start:end], "", sources.template.path, (), part)
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


def in_place(text: str, found: LocatedText, body: str) -> str:
    """The text of a file with another text of the section in it."""
    if found.key:
        return with_value(text, found.key, body)
    start, end = found.part or (0, len(text))
    return text[:start] + body + text[end:]


def file_of(sources: AgentSources, near: SourceText, held: dict[str, Any]) -> SourceText | None:
    """The file that a section or a choice in an agent file names; None if it names none that is known."""
    if not isinstance(held.get("file"), str):
        return None
    path = posixpath.normpath(posixpath.join(sources.folder(near), held["file"]))
    return next((each for each in sources.sections if posixpath.normpath(each.path) == path), None)


def _listed(file: SourceText, listed: Any, of: tuple[str, ...], section: str) -> Iterator[SectionPlace]:
    """What a list of sections says of one."""
    for index, held in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(held, dict) and held.get("id") == section:
            yield SectionPlace(file, (*of, "sections", index), held, (of[0], of[1]) if of else None)


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
