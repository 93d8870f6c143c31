"""Which files an agent file and its sections name, read from the YAML before it is validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.config.documents.document import Path
from cuecard.config.sections.file_entry import written_entry
from cuecard.config.sections.file_patterns import has_inputs
from cuecard.config.sections.files_spec import FileSearch, known_paths, searches
from cuecard.model import Json
from cuecard.records import dataclass

WRITTEN = "written-by-model/"
"""The folder of the texts that models have written: they are data wherever they are shown."""


def written_file(name: str) -> str:
    """Where the text of a `writable` section is, relative to the agent file."""
    return f"{WRITTEN}{name}.md"


@dataclass(frozen=True, slots=True)
class FileWishes:
    """Files of sections.

    Attributes:
        texts: those that must exist, with the place that names them.
        files: those that may exist.
        roots: folders of skills, with the place that names them.
        strict: those in which every problem of a skill is an error.
        searches: the patterns that files are searched by.
    """

    texts: tuple[tuple[Path, str], ...]
    files: tuple[str, ...]
    roots: tuple[tuple[Path, str], ...]
    strict: frozenset[str] = frozenset()
    searches: tuple[FileSearch, ...] = ()

    @classmethod
    def of(cls, agent: Json) -> FileWishes:
        """What the sections of this agent file, of its profiles and of its variants name."""
        sections = list(_sections(agent))
        written = [*sections, *(choice for at, s in sections for choice in _choices(at, s))]
        texts = [((*at, "file"), s["file"]) for at, s in written if isinstance(s.get("file"), str)]
        shown = [entry for _, s in sections for entry in _entries(s.get("files"))]
        files = [path for paths, _ in shown for path in paths]
        looked = [search for _, found in shown for search in found]
        listed = [((*at, "skills"), skills) for at, s in sections if isinstance(skills := s.get("skills"), dict)]
        roots = tuple(root for at, skills in listed for root in _roots(at, skills))
        strict = frozenset(
            root for at, skills in listed if skills.get("strict") is True for _, root in _roots(at, skills)
        )
        return cls(tuple(texts), tuple(dict.fromkeys(files)), roots, strict, tuple(dict.fromkeys(looked)))


@dataclass(frozen=True, slots=True)
class AgentPlaces:
    """The files that an agent file names. Values of the wrong type are reported later, by the validation."""

    template_key: Path
    template: Json
    partials: tuple[tuple[Path, Json], ...]
    instructions: tuple[tuple[Path, str], ...]
    models: Json
    sections: FileWishes
    results: tuple[tuple[Path, str], ...] = ()
    written: tuple[str, ...] = ()
    roots: tuple[tuple[Path, str], ...] = ()

    @classmethod
    def of(cls, agent: Mapping[str, Json]) -> AgentPlaces:
        """The files that this agent file names."""
        written, layout, tools = agent.get("template"), agent.get("layout"), agent.get("tools")
        core = written if isinstance(written, dict) else {"file": written}
        key: Path = ("template", "file") if isinstance(written, dict) else ("template",)
        own = (("template", "partials"), core.get("partials"))
        shared = (("layout", "partials"), layout.get("partials") if isinstance(layout, dict) else None)
        written_tools = tools.get("instructions") if isinstance(tools, dict) else None
        instructions = tuple(placed(("tools", "instructions"), written_tools))
        wanted, models, writable = FileWishes.of(agent), agent.get("models"), agent.get("writable")
        written = tuple(map(written_file, writable)) if isinstance(writable, dict) else ()
        results, roots = _results(agent), tuple(_roots((), agent))
        return cls(key, core.get("file"), (own, shared), instructions, models, wanted, results, written, roots)

    def all(self) -> list[str]:
        """Every place that is named."""
        single = (self.template, *(place for _, place in self.partials), self.models)
        sections = self.sections
        folders = (search.pattern.folder for search in sections.searches)
        named = (
            *(place for _, place in (*self.instructions, *sections.texts, *self.results)),
            *sections.files,
            *(place for _, place in sections.roots),
            *folders,
        )
        return [place for place in (*single, *named) if isinstance(place, str) and place]


def _results(agent: Mapping[str, Json]) -> tuple[tuple[Path, str], ...]:
    written = agent.get("results")
    files = (
        (("results", name, "file"), form.get("file"))
        for name, form in (written.items() if isinstance(written, dict) else ())
        if isinstance(form, dict)
    )
    return tuple((at, file) for at, file in files if isinstance(file, str))


def texts(value: Json) -> tuple[str, ...]:
    """A text or a list of texts; anything else is reported by the validation."""
    return tuple(text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str))


def placed(at: Path, value: Json) -> Iterator[tuple[Path, str]]:
    """The texts of `texts`, each with its place."""
    for index, text in enumerate(value) if isinstance(value, list) else [(None, value)]:
        if isinstance(text, str):
            yield at if index is None else (*at, index), text


def _sections(agent: Json) -> Iterator[tuple[Path, dict[str, Json]]]:
    places: list[Path] = [()]
    for key in ("profiles", "variants"):
        chosen = agent.get(key)
        places += [(key, name) for name in chosen] if isinstance(chosen, dict) else []
    for place in places:
        owner = agent
        for part in place:
            owner = owner[part]
        listed = owner.get("sections") if isinstance(owner, dict) else None
        for index, section in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(section, dict):
                yield (*place, "sections", index), section


def _choices(at: Path, section: Mapping[str, Json]) -> Iterator[tuple[Path, dict[str, Json]]]:
    listed = section.get("choose")
    for index, choice in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(choice, dict):
            yield (*at, "choose", index), choice


def _entries(files: Json) -> Iterator[tuple[list[str], list[FileSearch]]]:
    """The paths that each entry of a `files` source names, and the searches that it needs."""
    listed = files.get("entries") if isinstance(files, dict) else None
    supplied = isinstance(files, dict) and files.get("supplied") is True
    for written in listed if isinstance(listed, list) else ():
        paths = [*filter(None, texts(written.get("path")))] if isinstance(written, dict) else []
        if not isinstance(written, dict) or (supplied and not paths):
            continue
        if paths and not any(map(has_inputs, paths)):
            yield paths, []
        elif entry := written_entry(written):
            yield [*known_paths(entry)], [*searches(entry)]


def _roots(at: Path, owner: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    return placed((*at, "roots"), owner.get("roots"))
