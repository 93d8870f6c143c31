"""The agent file with its layers and models, and which tools are core tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from fnmatch import fnmatchcase
from itertools import takewhile

from cuecard.agent.world import Memo
from cuecard.config.agent_file import VERSION, AgentFile, ToolsSpec, WritableSpec
from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.validation import COMMENTED, validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_changes import read_lately
from cuecard.config.file_kinds import refuse_other_kind
from cuecard.config.layers import MergedDocument, lay_over
from cuecard.config.models_file import SHIPPED_PROVIDERS, ModelsFile, unknown_providers
from cuecard.config.named_files import written_file
from cuecard.config.section_layers import says_something, section_id
from cuecard.config.sections.file_entry import FileEntry
from cuecard.config.sections.files_spec import FilesSpec
from cuecard.config.sections.section_spec import SOURCES, SectionPatch, SectionSpec, patched
from cuecard.config.template_layers import outline_core
from cuecard.config.values import is_pattern
from cuecard.errors import Problem, SpecError
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Specification:
    """A parsed agent file.

    Attributes:
        document: all layers as one document.
        spec: the same, validated; None if that failed.
        problems: its problems.
        removed: by removed section, the place that removed it, as `file:line:column`.
        outlined: whether the sections are known: false if they belong to an unreadable template.
        layered: whether more than one file contributed.
    """

    document: Document
    spec: AgentFile | None
    problems: tuple[Problem, ...] = ()
    removed: Mapping[str, str] = field(default_factory=dict)
    outlined: bool = True
    layered: bool = False


def read_specification(sources: AgentSources, memo: Memo) -> Specification:
    """The agent file merged with those that it extends, and with the sections of its template.

    Raises:
        SpecError: when one of the files cannot be read as YAML, or is of another kind or a later version.
    """
    found = _read_layers(sources, memo)
    return replace(found, spec=_with_written(found.spec, sources)) if found.spec and found.spec.writable else found


def _read_layers(sources: AgentSources, memo: Memo) -> Specification:
    layers = [(read_lately(source.text, source.name), sources.folder(source)) for source in sources.layers]
    own = read_lately(sources.agent.text, sources.agent.name)
    if "extends" not in own.value:
        refuse_other_kind(own, "agent")
    layers.append((own, ""))
    newer = [problem for document, _ in layers for problem in _newer(document)]
    if newer:
        raise SpecError(newer)
    written = [document.value["template"] for document, _ in layers if "template" in document.value]
    if not written or written[-1] is None:
        layered = lay_over(layers)
        wrong = [*_unwritten(layered.document), *_silent(layered.document)]
        return _specification(layered, wrong, is_layered=len(layers) > 1)
    outline = memo(outline_core, sources.template) if sources.template else None
    if outline is None:
        document = lay_over(layers).document
        spec, problems = _validated(document)
        return Specification(document, spec, tuple(problems), outlined=False)
    patched = len(layers) > 1 or any("sections" in document.value for document, _ in layers)
    layered = lay_over(layers, outline)
    elements = {section["id"] for section in outline.document.value["sections"]}
    return _specification(layered, [*_silent(layered.document, elements)], is_layered=patched)


def _with_written(spec: AgentFile, sources: AgentSources) -> AgentFile:
    """The agent file with what models have written in place of the texts of its writable sections."""
    texts = {source.path: source.text for source in (*sources.sections, *sources.files)}
    patches = {
        each.section: _written(each, written_file(name), texts)
        for name, each in spec.writable.items()
        if written_file(name) in texts
    }
    return spec.model_copy(
        update={
            "sections": tuple(
                patched(section, patches[section.id](section)) if section.id in patches else section
                for section in spec.sections
            )
        }
    )


def _written(spec: WritableSpec, path: str, texts: Mapping[str, str]) -> Callable[[SectionSpec], SectionPatch]:
    """What makes of a section one that prints a file as data, below the headings that its author wrote."""

    def patch(section: SectionSpec) -> SectionPatch:
        own = section.text if section.text is not None else texts.get(section.file or "", "")
        heads = takewhile(lambda line: not line.strip() or line.startswith("#"), own.split("\n"))
        text = "\n\n".join([*filter(str.strip, heads), "{{{content}}}"])
        entry = FileEntry(path=(path,))
        files = FilesSpec(entries=(entry,), item="{{{content}}}", per_file=spec.max_chars, total=spec.max_chars)
        return SectionPatch(id=section.id, text=text, files=files, trust="data")

    return patch


def _newer(document: Document) -> Iterator[Problem]:
    """The problem of a file with a later version: nothing else is reported, because its meaning is unknown."""
    version = document.value.get("version")
    if isinstance(version, int) and version > VERSION:
        message = f"this file has format version {version}; this version of cuecard reads up to {VERSION}"
        hint = f"update cuecard, or use format version {VERSION}"
        yield document.problem(("version",), "newer-version", message, hint)


def _specification(layered: MergedDocument, wrong: list[Problem], *, is_layered: bool) -> Specification:
    if too_many := [*_too_many(layered.document)]:  # and nothing about each of them
        return Specification(layered.document, None, tuple(too_many), outlined=False)
    spec, problems = _validated(layered.document)
    found = sorted((*problems, *wrong), key=lambda p: (p.span.line, p.span.column) if p.span else (0, 0))
    spec = None if wrong else spec
    return Specification(layered.document, spec, (*layered.problems, *found), layered.removed, layered=is_layered)


def _validated(document: Document) -> tuple[AgentFile | None, list[Problem]]:
    try:
        return validate(document, AgentFile), []
    except SpecError as error:
        return None, [*error.problems]


def _unwritten(document: Document) -> Iterator[Problem]:
    """The problem of a file without a prompt, at the `template: null` that removed the template, if there is one."""
    if not document.value.get("sections"):
        message = "an agent needs either `template`, an XML core, or `sections`, a list"
        hint = "write `template: agent.xml` and that file, or `sections: [{id: role, text: You help.}]`;"
        hint += " `cuecard init DIR` begins one that works"
        yield document.problem(("template",) if "template" in document.value else (), "wrong-value", message, hint)


MAX_SECTIONS = 2_000
"""The maximum number of sections of an agent."""


def _too_many(document: Document) -> Iterator[Problem]:
    sections = document.value.get("sections")
    if isinstance(sections, list) and len(sections) > MAX_SECTIONS:
        place = ("sections", MAX_SECTIONS)
        message = f"the prompt has {len(sections):,} sections; at most {MAX_SECTIONS:,}"
        yield document.problem(place, "wrong-value", message, "write several as one, or fill one from `files`")


def _silent(document: Document, elements: Collection[str] = ()) -> Iterator[Problem]:
    """Problems of sections without content; `elements` have their text in a template."""
    sections = document.value.get("sections")
    for index, section in enumerate(sections if isinstance(sections, list) else ()):
        if isinstance(section, dict) and not says_something(section) and section_id(section, "") not in elements:
            label = document.dotted(("sections", index))
            message = f"`{label}` has no content: give it `text`, `file`, or a source: "
            at: Path = ("sections", index)
            told = next((key for key in section if document.is_commented((*at, key))), "")
            hint = f"`{told}:` is empty: {COMMENTED}" if told else ""
            yield document.problem(at, "wrong-value", message + ", ".join(SOURCES), hint)


def read_own_models(source: SourceText | None, memo: Memo) -> tuple[ModelsFile | None, tuple[Problem, ...]]:
    """The file and its problems; None if there is none, or it is unusable."""
    return memo(_read, source) if source else (None, ())


def _read(source: SourceText) -> tuple[ModelsFile | None, tuple[Problem, ...]]:
    try:
        document = read_yaml(source.text, source.name)
        file = validate(document, ModelsFile)
    except SpecError as error:
        return None, error.problems
    return file, (*document.warnings, *unknown_providers(document, file, SHIPPED_PROVIDERS))


def core_tools(spec: ToolsSpec, known: Iterable[str]) -> tuple[str, ...]:
    """The core tools: those that are named, in the file's order, then those of the known ones that match a pattern.

    No pattern matches the search tool: it is there where something can be found, and not because of its name.
    """
    named = (name for name in spec.core if not is_pattern(name))
    patterns = [name for name in spec.core if is_pattern(name)]
    matching = (
        name for name in known if name != spec.search.tool and any(fnmatchcase(name, each) for each in patterns)
    )
    return tuple(dict.fromkeys((*named, *(matching if patterns else ()))))
